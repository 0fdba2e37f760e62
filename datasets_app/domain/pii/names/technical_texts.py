"""Whether a text is about technology, and what is code in it."""

import re
from collections.abc import Collection, Iterable, Sequence

from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.names.name_refusals import CODES

MIN_SIGNS = 2  # different signs of technology that make a text technical
_MAX_SHAPES = 2  # of the same text that count

_NOUNS_TEXT = """
adapter admin algorithm api apis app apps architecture array async backend backup benchmark binary bios
bit bits boot boots branch broker browser buffer bug bugs build builds bundle bundler byte bytes cache
cert channel checkout checksum classes cli client closure cluster cmos code codec command commit commits
compile compiled compiler compiles component config configs connector console container containers
controller core cores coroutine coroutines cpu cpus crash crashed crashes cron css csv cursor dashboard
dashboards database databases dataset datasheet datasource debug debugger decoder decorator dependencies
dependency deploy deployed deployment deploys deserialize desktop dialect diff disk distro dns docs
docstring domain dsp editor embedding encoder endpoint endpoints engine engines enum epoch epochs error
errors eval evals exception extension extensions file files filter finetuned firewall firmware flag flash
flashed fonts fork framework frameworks frontend function functions gateway generics gif glyph gpu gpus
gradient grep grub gui hash headers headings headless heap hook hooks hosting hostname http https ide
index inference instance instances interface interpreter ip iso java javascript json kernel kerning
keyboard language languages latency layer layout lib libraries library license linter log login logs loop
lr macro macros mapping markdown markup merge metadata method methods metric metrics microcontroller
middleware migration migrations mock mocks module modules monitor monitoring mutex namespace notebook
notebooks null objects open-source operator ops orm os output package packages packet parser parsers patch
pin pipeline pipelines pixel plugin plugins pod pods pointer port ports printer printf processes processor
profiler programming prompts protocol proxy quantized queries query queue queues ram rebase reboot
refactor regex regexp registry release releases render replica repo repos repository retry router routes
runner runtime scala schema schemas scraper script scripts sdk segfault segfaults self-hosted sensor
serialize serializer server serverless servers sharding shell simulator slicer snapshot snippet socket
solder soldered sql ssh ssl stack strings struct stubs subnet svg sync syntax syscall template templates
tensor terminal threshold throttles timeout timeouts tls toolkit tracing typeface typing uefi ui unmarshal
upgrade upload url usb utf validation validators variable variables vector version versions virtual vm
vram webhook webhooks wifi worker workers workflow workflows wrapper xml yaml
"""
_NOUNS = (CODES | frozenset(_NOUNS_TEXT.split())) - {"http", "https", "channel", "usa", "pos", "sim", "gps"}
_SHAPES = (
    re.compile(r"`[^`\n]{1,200}`|```"),
    re.compile(r"(?<![/\w])[a-z]{2,20}_[a-z0-9_]{2,40}\b(?!/)"),  # snake_case
    re.compile(r"\b[a-z]{2,20}[A-Z][a-z]{1,20}[A-Za-z]{0,30}\b"),  # camelCase
    re.compile(r"\b\w{1,40}\(\w{0,40}\)"),
    re.compile(r"(?:^|\s)--?[a-z][\w-]{1,30}\b"),  # options
    re.compile(r"\bv?\d{1,4}\.\d{1,4}(?:\.\d{1,5})?\b"),
    re.compile(
        r"\b[\w-]{1,40}\.(?:py|js|ts|tsx|go|rs|rb|java|json|ya?ml|toml|conf|cfg|sh|md|sql|html|css|exe|dll"
        r"|so|log|txt|iso)\b"
    ),
    re.compile(r"[{}]|=>|->|::|&&|\|\||[<>=!]=|;\s*$"),
    re.compile(
        r"\b[A-Z]{2,6}\d{1,6}\b|\b\d{1,4}\s?(?:[KMGT]i?B|[KMGT]bit|ms|k?Hz|MHz|GHz|mV|V|mA|A|W|dB|px|fps|rpm|vCPU)\b"
    ),
    # Lines of logs, statements in SQL, exceptions.
    re.compile(
        r"\b(?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|TRACE)\b|\b\d\d:\d\d:\d\d\b"
        r"|\b(?:SELECT|INSERT INTO|CREATE|ALTER|DROP) [A-Z*\w]|\b[A-Z]\w{2,30}(?:Error|Exception)\b"
    ),
)

# What programs call things.
_CODE = re.compile(
    r"\bimport\s{1,3}(?:type\s)?\{[^}\n]{0,200}\}|\b(?:from|require\()\s{0,3}[\"'][^\"'\n]{1,100}[\"']"
    r"|\b(?:const|let|var|val|new|class|def|func|fn|struct|enum|interface|extends"
    r"|implements)\s{1,3}\w{1,60}(?=\s{0,2}[=({:;<.]|\s(?:extends|implements)\b)"
    r"|\b(?:extends|implements)\s{1,3}\w{1,60}(?=\s*[{,;]|$)"
    # Tables of statements in SQL, and what an error says isn't defined: never values.
    r"|\b(?:SELECT|DELETE)\b[^'\"\n]{0,200}?\sFROM\s{1,3}\w{1,60}|\b(?:LEFT|INNER|RIGHT|OUTER)\sJOIN\s{1,3}\w{1,60}"
    r"|\bINSERT\sINTO\s{1,3}\w{1,60}|\bUPDATE\s{1,3}\w{1,60}(?=\sSET\b)"
    r"|\b(?:CREATE|ALTER|DROP|TRUNCATE)\s(?:\w{1,10}\s){0,2}(?:TABLE|VIEW|INDEX|SCHEMA)\s{1,3}"
    r"(?:IF\s(?:NOT\s)?EXISTS\s)?\w{1,60}"
    r"|\b(?:NameError:\sname\s['\"]|ReferenceError:\s)\w{1,60}(?=['\"]?\sis\snot\sdefined)"
    r"|\bundeclared\s(?:type|identifier)\s[\"'`]\w{1,60}"
    r"|\bfrom\s\w{1,40}\simport\s\w{1,40}|\bimport\s\w{1,40}\sfrom\s"
    r"|\s--name[= ]\w{1,60}"
    r"|\b\w{1,60}\.[a-z]\w{0,60}\("  # a call
    r"|\b[a-z]{2,20}(?:-[a-z]{2,20}){1,3}\s?:\s"  # a property of CSS
)
_CODE_SIGNS = frozenset("(={[;:`*")
_CODE_WORDS = frozenset("import extends implements FROM TABLE VIEW INTO UPDATE JOIN".split())


def find_code_words(
    text: str, words: Sequence[str], starts: Sequence[int], numbers: Iterable[int]
) -> list[int]:
    """Which of ``numbers`` are words that a program calls something by."""
    if _CODE_SIGNS.isdisjoint(words) and _CODE_WORDS.isdisjoint(words):
        return []
    spans = [match.span() for match in _CODE.finditer(text)]
    return [number for number in numbers if any(start <= starts[number] < end for start, end in spans)]


def count_signs(text: str, words: Sequence[str], named: Collection[str]) -> int:
    """How many different signs a text has: words of technology, ``named`` products, and forms of code."""
    plain = {word.lower() for word in words}
    signs = len(plain & _NOUNS) + len(named)
    if signs < MIN_SIGNS:
        signs += min(_MAX_SHAPES, sum(1 for shape in _SHAPES if shape.search(text)))
    return signs


def is_unlisted(words: Iterable[str]) -> bool:
    """Whether no list has any of ``words`` as a name."""
    return not any(fact.first or fact.last for fact in map(look_up_word, words))
