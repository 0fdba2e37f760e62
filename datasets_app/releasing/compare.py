"""Compares two versions of a dataset, or a version and the current dataset."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from datasets_app.browsing import distributions
from datasets_app.browsing.charts import Side
from datasets_app.browsing.distributions import Facet
from datasets_app.browsing.facets import MAX_METADATA_VALUES
from datasets_app.catalog import gates
from datasets_app.catalog.rows.turn_reader import read_field_names
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.conversations.jsonl import parse_turn
from datasets_app.domain.conversations.records import LineError, TurnRecord
from datasets_app.domain.releases import changelog
from datasets_app.domain.releases.changelog import SchemaChange
from datasets_app.domain.releases.comparison import Difference, compare_files
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset, Release
from datasets_app.releasing.freeze import read_dataset_lines, read_release_lines
from datasets_app.releasing.versions import check_is_stored

# Of a file that was replaced by another one.
UNREADABLE = "A stored version can't be read, because a file has changed; verify the releases to see which."


class ReleaseComparison(NamedTuple):
    """``after`` is None for the current dataset; ``bump`` is None if nothing has changed."""

    before: Release
    after: Release | None
    difference: Difference
    schema: SchemaChange
    bump: str | None

    @property
    def names(self) -> tuple[str, str]:
        return self.before.version, self.after.version if self.after else "now"


def compare_releases(
    dataset: Dataset,
    before: Release,
    after: Release | None = None,
    *,
    report_progress: ProgressCallback = ignore_progress,
) -> ReleaseComparison:
    """Read both, at most twice; memory grows by a digest for each session."""
    for release in (before, after):
        if release is not None:
            check_is_stored(release)
    if after is None:
        gates.check_can_copy(dataset)
    turns = before.turn_count + (after.turn_count if after else dataset.turn_count)
    try:
        difference = compare_files(
            lambda: read_release_lines(before),
            lambda: read_release_lines(after) if after else read_dataset_lines(dataset),
            lambda lines: report_progress(min(lines, 2 * turns), 2 * turns),
        )
    except ValueError:
        raise UserError(UNREADABLE) from None
    schema = changelog.compare_schemas(before.fields, after.fields if after else read_field_names(dataset))
    return ReleaseComparison(before, after, difference, schema, changelog.propose_bump(difference, schema))


def write_comparison(compared: ReleaseComparison, dataset: Dataset, folder: Path) -> Path:
    """Write what has changed, without texts, into a file in ``folder``."""
    path = folder / f"{dataset.name}_{'_'.join(compared.names)}.comparison.json"
    listed = msgspec.json.encode(comparison_to_json(compared, include_values=False))
    path.write_bytes(msgspec.json.format(listed) + b"\n")
    return path


def comparison_to_json(compared: ReleaseComparison, *, include_values: bool) -> dict[str, Any]:
    """For JSON: counts and lists; with ``include_values`` also values of fields, which may be texts."""
    difference = compared.difference
    return {
        "before": compared.names[0],
        "after": compared.names[1],
        **difference.counts_as_json(),
        "fields_appeared": compared.schema.added_fields,
        "fields_vanished": compared.schema.removed_fields,
        "proposed": compared.bump,
        "added": difference.added,
        "removed": difference.removed,
        "changed": [
            {
                "session_id": change.session_id,
                "turns": [
                    {
                        **turn._asdict(),
                        "fields": [
                            item._asdict() if include_values else {"name": item.name} for item in turn.fields
                        ],
                    }
                    for turn in change.turns
                ],
            }
            for change in difference.changes
        ],
    }


# A page counts so many in time.
MAX_TURNS_COUNTED = 100_000
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
# A kind and a value that a session has, such as a tag.
Trait = tuple[Any, ...]


def count_release(release: Release, *, may_read: bool) -> Side:
    """Raises UserError if the version has too many turns, or no file any more."""
    check_is_stored(release)
    if release.turn_count > MAX_TURNS_COUNTED:
        raise UserError(
            f"Version {release.version} has {format_count(release.turn_count, 'turn')}, more than the "
            f"{MAX_TURNS_COUNTED:,} that charts count in a version."
        )
    try:
        counts = _count_sessions(read_release_lines(release))
    except (ValueError, OSError):
        raise UserError(UNREADABLE) from None
    facets = [
        distributions.make_length_facet(dict(counts["length"])),
        distributions.make_reply_facet(dict(counts["reply"])),
    ]
    if may_read:
        facets += _make_text_facets(counts)
    days = dict(counts["day"]) if may_read else {}
    return Side(str(release), release.session_count, release.session_count, facets, days)


def _make_text_facets(counts: dict[str, Counter[Any]]) -> Iterable[Facet]:
    yield from distributions.make_tag_facets(_order(counts["tag"]))
    yield distributions.make_facet("persona", "Personas", _order(counts["persona"]))
    by_key: dict[str, Counter[str]] = {}
    for (key, value), number in counts["meta"].items():
        by_key.setdefault(key, Counter())[value] = number
    for key, values in by_key.items():
        if len(values) == 1 or len(values) <= MAX_METADATA_VALUES and values.total() >= 2 * len(values):
            yield distributions.make_metadata_facet(key, _order(values))


def _order(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _count_sessions(lines: Iterable[bytes]) -> dict[str, Counter[Any]]:
    """By kind of trait: how many sessions have each value. The turns of a session follow each other."""
    counts: dict[str, Counter[Any]] = {
        kind: Counter() for kind in ("length", "reply", "day", "tag", "persona", "meta")
    }
    session, turns, traits = None, 0, set[Trait]()

    def finish() -> None:
        if turns:
            counts["length"][bisect_right(distributions.LENGTHS, turns)] += 1
        for kind, value in traits:
            counts[kind][value] += 1

    for number, line in enumerate(lines, 1):
        turn = parse_turn(number, line)
        if isinstance(turn, LineError):
            raise ValueError(turn.code)
        if turn.session_id != session:
            finish()
            session, turns, traits = turn.session_id, 0, set()
        turns += 1
        traits.update(_list_traits(turn))
    finish()
    return counts


def _list_traits(turn: TurnRecord) -> Iterator[Trait]:
    if turn.role == "assistant":
        yield "reply", bisect_right(distributions.REPLY_LENGTHS, len(turn.text))
    if turn.turn_index == 1 and turn.timestamp and _DAY.match(turn.timestamp):
        yield "day", turn.timestamp[:10]
    if turn.persona_id:
        yield "persona", turn.persona_id
    for tag in turn.tags:
        yield "tag", tag
    for fields in (turn.metadata, turn.extra):
        for key, value in (fields or {}).items():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            if isinstance(value, str | int | float) and 0 < len(text) <= 100 and "=" not in key:
                yield "meta", (key, text)
