"""What a program calls something, told by the syntax of code: no name of a person in any language."""

import re

from datasets_app.domain.pii.detector import NAME
from datasets_app.domain.pii.rules.technical import Protected

_KINDS = frozenset({NAME})
_SIGN = re.compile(r"[(={;:]|import|extends|implements|FROM|TABLE|VIEW|INTO|UPDATE|JOIN|Error|undeclared")
_CODE = re.compile(
    r"\bimport\s{1,3}(?:type\s)?\{[^}\n]{0,200}\}"
    r"|\b(?:import|export)\b[^\"'\n]{0,200}?\bfrom\s{0,3}[\"'][^\"'\s]{1,100}[\"']"
    r"|\brequire\(\s{0,3}[\"'][^\"'\s]{1,100}[\"']"
    # "var", "let" and "new" are words of several languages, too.
    r"|\b(?:const|let|var|val)\s{1,3}\w{1,60}(?=\s{0,2}=)|\bnew\s\w{1,60}(?=[(<])"
    r"|\b(?:class|def|func|fn|struct|enum|interface)\s{1,3}\w{1,60}(?=[({:<]|\s{0,2}\{|\s(?:extends|implements)\b)"
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
    r"|\b\w{1,60}\(\w{1,40}=[^()\n]{0,80}\)"  # a call with a named argument
    r"|\b[a-z]{2,20}(?:-[a-z]{2,20}){1,3}\s?:\s[^\n;]{1,80};"  # a property of CSS
)


def find_code_names(text: str) -> list[Protected]:
    """The parts of a text that are code and name something."""
    if not _SIGN.search(text):
        return []
    return [Protected(*match.span(), _KINDS) for match in _CODE.finditer(text)]
