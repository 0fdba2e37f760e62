"""The words of the product: names say the result or the action, prose is plain American English.

``python -m tests.words_check [FILE_OR_FOLDER …]`` lists what reads wrong, one place a line.
"""

import ast
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import re2

PROJECT = Path(__file__).resolve().parent.parent
CODE = ("datasets_app", "annotations_app", "alignmenter_site")
PROSE = ("docs", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "templates")
SUFFIXES = {".py", ".html", ".js", ".md"}
# Texts that are data: what generated conversations say, licenses, word lists, steps already taken.
DATA = ("migrations", "phrases", "license_texts", "name_model", "vendor")

# A function named so says neither what it does nor what it returns.
BARE_NAMES = frozenset(
    """
    about added all announced answered asked asked_for at begun beside before behind by carried changed
    checked chosen closed compared counted cut decided done dropped drawn erased everything expected
    filled found further given gone greeted handed heard held here how instead joined kept known labelled
    labeled last left listed locked looked made marked may measured met missed mine more moved named
    needed new nothing of offered older others ours over own packed placed pressed previewed put
    quarantined read_only refused released remembered rest said scrubbed seen sent settled shown signed
    spelled stated stopped stored stood taken there tied told touched tried under undone unread used
    vanished wanted wanting warned what when where whole whose within without worded written wrong
    """.split()
)
BANNED_PREFIXES = re.compile(r"_?(MOST|LONGEST|FEWEST|SHORTEST|LARGEST|AT_MOST|AT_LEAST)_[A-Z]")

# (what must not stand there, what to write instead)
PHRASES: tuple[tuple[str, str], ...] = (
    (r"audit trail\b|\bthe trail\b", "audit log"),
    (r"\blicence", "license"),
    (
        r"\borganisation|\brecognis|\bnormalis|\bcolour|\bbehaviour|\blabell(?:ed|ing)\b|\bspelt\b|\blearnt\b",
        "American spelling",
    ),
    (r"\bcancell(?:ed|ing)\b", "canceled"),
    (r"\bset aside\b", "quarantined"),
    (r"\bsound (?:sessions|lines|conversations)\b", "valid sessions"),
    (r"\brehears", "dry run, preview"),
    (r"wants attention|\bchanged last\b", "needs attention, recently updated"),
    (r"\basked for\b", "requested"),
    (r"leaves? the house|leaving the house|lett?ing go\b|let it go\b|\blet go\b", "share, export, delete"),
    (r"what must hold before|things in the way|can't be told", "sharing checklist, blockers, unknown"),
    (r"\bpapers\b", "documents"),
    (r"which number grows", "version bump"),
    (r"\bnobody's\b", "terms to ignore"),
    (r"look-?alike", "over-refusal probe"),
    (r"how far people agree|each two annotators|who errs which way", "agreement terms"),
    (r"annotators a reply|minutes a reply is held", "annotators per reply, lock timeout"),
    (r"\boff by\b", "deviation"),
    (r"the facts of all datasets", "dataset metadata"),
    (r"\bother keys\b", "metadata"),
    (r"\b(?:be|been|is|are|was|were) gone on with\b|\bis taken up\b|\btaken up again\b", "resumed"),
    (r"\bmend(?:s|ed|ing)?\b", "fix"),
    (r"\bwhoever\b", "the person who"),
    (r"\bthe heart\b|heart beats", "heartbeat"),
    (r"\bstands? (?:there|in the way|beside|still)\b", "exists, blocks, is idle"),
    (r"nothing is known of", "no estimate yet"),
    (r"\bsay so\b.*\bword\b|\bin words\b", "as text"),
    (r"\bYou may not\b", "You don't have access"),
    (r"\bit goes from\b|\bgoes with it\b", "is deleted with it"),
    (r"\btells? of\b|\btold of\b", "names, describes"),
    (r"\bby hand of\b|\bcosts next to nothing\b", "is cheap"),
    (r"\bnever was\b|\bwas never (?:checked|scrubbed)\b", "not checked yet"),
)
COMPILED = tuple((re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in PHRASES)
# Not prose: stored values, columns, options, prompts, labels of training data, names of files of formats.
STORED = re.compile(
    r"""state.?=.?cancelled|["'](?:cancelled|labelled|other keys|ORGANISATION)["']|"""
    r"""["'](?:licence|other_keys|look_alike|look-alike|asked_for|set_aside|edge_case)["']|"""
    r"""[\w/-]*look-alike/|/look-alike|It is a look-alike:|none of the look-alike words|"""
    r"""as you are asked for\.|--skip-labelled|SET labelled|\b(?:[mc]|member)\.labelled|AS labelled|"""
    r"""["'](?:audit trail|(?:<int:pk>/)?rehearsal/?)["']"""
)
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
# In one pass over a file, whether one of its lines could read wrong: to take Python apart costs much more.
SUSPICIOUS_LINE = re2.compile("(?i)" + "|".join([*(pattern for pattern, _ in PHRASES), STORED.pattern]))
SUSPICIOUS_NAME = re2.compile(rf"\bdef[\s\\]+_*(?:{'|'.join(BARE_NAMES)})_*\b|\b{BANNED_PREFIXES.pattern}")


class Place(NamedTuple):
    path: Path
    line: int
    text: str
    instead: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(PROJECT)}:{self.line}: {self.text} -> {self.instead}"


def files(chosen: list[str] | None = None) -> list[Path]:
    roots = [PROJECT / name for name in (chosen or [*CODE, *PROSE])]
    paths = [path for root in roots for path in ([root] if root.is_file() else sorted(root.rglob("*")))]
    return [path for path in paths if path.suffix in SUFFIXES and not set(path.parts) & set(DATA)]


def bad_names(path: Path) -> Iterator[Place]:
    text = path.read_text()
    if not SUSPICIOUS_NAME.search(text):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.strip("_") in BARE_NAMES:
                yield Place(path, node.lineno, f"def {node.name}", "a verb with its object, or a noun")
        elif (
            isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and BANNED_PREFIXES.match(node.id)
        ):
            yield Place(path, node.lineno, node.id, "MAX_…, MIN_…, DEFAULT_…")


def prose_of(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines that people read: of Python only strings and comments."""
    if path.suffix != ".py":
        yield from enumerate(path.read_text().splitlines(), 1)
        return
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type in {tokenize.STRING, tokenize.COMMENT}:
                for offset, line in enumerate(token.string.splitlines()):
                    yield token.start[0] + offset, line


def bad_phrases(path: Path) -> Iterator[Place]:
    content = path.read_text()
    if not SUSPICIOUS_LINE.search(content) and not (path.suffix == ".html" and FLAG.search(content)):
        return
    for number, line in prose_of(path):
        text = STORED.sub("", line)
        for pattern, instead in COMPILED:
            if match := pattern.search(text):
                yield Place(path, number, match.group(), instead)
        if path.suffix == ".html" and (match := FLAG.search(text)) and "var(--" not in text:
            yield Place(path, number, match.group(), "a link, a button or plain words: pages have no flags")


def places(chosen: list[str] | None = None) -> list[Place]:
    found = []
    for path in files(chosen):
        found += bad_phrases(path)
        if path.suffix == ".py":
            found += bad_names(path)
    return found


if __name__ == "__main__":
    listed = places(sys.argv[1:])
    print(*listed, f"{len(listed)} places", sep="\n")
    sys.exit(bool(listed))
