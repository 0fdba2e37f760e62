"""Files of terms to keep: proposed ones are written, with what helps to decide, and kept ones are read."""

from collections.abc import Iterable, Iterator

from alignmenter_site.keys.hash_key import hash_key
from datasets_app.domain.pii.detector import NAME
from datasets_app.domain.pii.marks import make_missed_mark
from datasets_app.domain.pii.pattern_kinds import find_pattern_kind
from datasets_app.domain.pii.policy import KIND_DESCRIPTIONS, MissedMark
from datasets_app.domain.pii.proposals import TermCount
from datasets_app.management.files import open_output, read_text
from datasets_app.management.terminal import command_error
from datasets_app.scrubbing.marks import MAX_TERM_CHARACTERS, MAX_TERMS

_HEADING = """\
# Words found as names in many sessions. Delete the lines of people, and give the rest to --keep-terms.
# term\tsessions\toccurrences\tby the assistant\tbeside words for products
"""


def write_proposals(target: str, proposals: Iterable[tuple[str, TermCount]]) -> None:
    """One term a line with its counts, separated by tabs, in a file that only its owner may read; ``-`` is
    standard output."""
    lines = [
        f"{term}\t{count.sessions}\t{count.occurrences}\t{count.assistant_share:.0%}\t{count.product_share:.0%}\n"
        for term, count in proposals
    ]
    with open_output(target, private=True) as file:
        file.write("".join([_HEADING, *lines]).encode())


def read_scrubbed_terms(file_name: str) -> Iterator[MissedMark]:
    """Marks of the terms in the first column of each line that isn't a remark."""
    for _, term in _read_terms(file_name):
        if mark := make_missed_mark(NAME, term, hash_key()):
            yield mark


def read_kept_terms(file_name: str) -> tuple[str, ...]:
    """The first column of each line that isn't a remark. Refuses values of pattern classes."""
    terms: list[str] = []
    for number, term in _read_terms(file_name):
        if kind := find_pattern_kind(term):
            raise command_error(
                f"{file_name}:{number}: this is one of the {KIND_DESCRIPTIONS[kind]} that a scrub replaces. "
                "Keep it in files with --allow; in a dataset exempt it with a reason: see exempt_term."
            )
        terms.append(term)
    if len(terms) > MAX_TERMS:
        raise command_error(f"{file_name} has {len(terms):,} terms; at most {MAX_TERMS:,} can be kept.")
    return tuple(dict.fromkeys(terms))


def _read_terms(file_name: str) -> Iterator[tuple[int, str]]:
    """The number of each line that isn't a remark, and its first column."""
    for number, line in enumerate(read_text(file_name).removeprefix("\ufeff").splitlines(), 1):
        term = " ".join(line.partition("\t")[0].split())
        if not term or term.startswith("#"):
            continue
        if len(term) > MAX_TERM_CHARACTERS:
            raise command_error(f"{file_name}:{number}: a term has at most {MAX_TERM_CHARACTERS} characters.")
        yield number, term
