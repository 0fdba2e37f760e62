"""Imports runs of Alignmenter on a release, and reads their scores."""

from typing import Any, NamedTuple

from django.db import transaction

from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.queries import fetch_all
from datasets_app.domain.releases.run_report import InvalidReport, ReplyScore, RunReport, digest_records
from datasets_app.models import Dataset, EvaluationRun, Release, Session
from datasets_app.releasing.freeze import read_release_lines
from datasets_app.releasing.versions import check_is_stored

NO_SPLIT = "none"
MAX_TAGS, MAX_WORST = 30, 20
_SCORED = """
SELECT x.* FROM datasets_app_evaluationrun r
CROSS JOIN unnest(r.session_keys, r.turn_indexes, r.reply_scores) AS x (session, turn_index, score)
WHERE r.id = %(run)s
"""
_BY_SPLIT = f"""
SELECT COALESCE(s.split, '{NO_SPLIT}'), avg(x.score), count(*) FROM ({_SCORED}) x
JOIN datasets_app_session s ON s.dataset_id = %(dataset)s AND s.id = x.session GROUP BY 1 ORDER BY 1
"""  # constants of this module # nosec B608
_BY_TAG = f"""
SELECT tag, avg(x.score), count(*) FROM ({_SCORED}) x
JOIN datasets_app_turn t ON t.dataset_id = %(dataset)s AND t.session_id = x.session
    AND t.turn_index = x.turn_index
CROSS JOIN LATERAL unnest(t.tags) AS tag GROUP BY tag ORDER BY 3 DESC, 1 LIMIT {MAX_TAGS}
"""  # constants of this module # nosec B608
_WORST = f"""
SELECT t.id, x.score FROM ({_SCORED}) x
JOIN datasets_app_turn t ON t.dataset_id = %(dataset)s AND t.session_id = x.session
    AND t.turn_index = x.turn_index
ORDER BY x.score, t.id LIMIT {MAX_WORST}
"""  # constants of this module # nosec B608


class GroupScore(NamedTuple):
    """The mean of the replies of a split or a tag."""

    name: str
    mean: float
    replies: int


def import_run(release: Release, report: RunReport, *, actor: Any = None) -> tuple[EvaluationRun, bool]:
    """Keep the scores of a run beside the release that it ran on. Returns the run, and False if it was
    imported before: nothing has changed then. Raises UserError for a run on anything else."""
    known = release.runs.filter(run_id=report.run_id).first()
    if known is not None:
        return known, False
    _check_digest(release, report)
    keys = _find_sessions(release.dataset, {reply.session_id for reply in report.replies})
    found: list[ReplyScore] = [reply for reply in report.replies if reply.session_id in keys]
    with transaction.atomic():
        # Its destruction takes the names of groups away, and those of runs that come later.
        is_destroyed = Release.objects.select_for_update(no_key=True).get(pk=release.pk).destroyed_at
        groups = {} if is_destroyed else {"scenarios": report.scenarios, "personas": report.personas}
        run, is_new = EvaluationRun.objects.get_or_create(
            release=release,
            run_id=report.run_id,
            defaults={
                "model": report.model,
                "ran_at": report.ran_at,
                "package_version": report.package_version,
                "dataset_digest": report.dataset_digest,
                "persona_digest": report.persona_digest,
                "whole": report.whole,
                "groups": groups,
                "session_keys": [keys[reply.session_id] for reply in found],
                "turn_indexes": [reply.turn_index for reply in found],
                "reply_scores": [reply.score for reply in found],
                "missing_replies": len(report.replies) - len(found),
                "imported_by": actor,
            },
        )
        if is_new:
            audit.record(
                "import_run",
                actor=actor,
                dataset_name=release.dataset.name,
                release=release.version,
                run=str(report.run_id),
                replies=len(found),
            )
    return run, is_new


def explain_invalid(error: InvalidReport) -> UserError:
    return UserError(f"This report can't be imported: it {error}.")


def _check_digest(release: Release, report: RunReport) -> None:
    earlier = release.runs.first()
    if earlier is None:
        check_is_stored(release)
    expected = earlier.dataset_digest if earlier else digest_records(read_release_lines(release))
    if report.dataset_digest != expected:
        raise UserError(
            f"The run wasn't on {release}: its conversations differ from that version's. Run Alignmenter on "
            "the exported file of the version, unpacked and otherwise as it is."
        )


def _find_sessions(dataset: Dataset, session_ids: set[str]) -> dict[str, int]:
    """Primary keys by session_id; one that was erased or renamed since isn't found."""
    return dict(
        Session.objects.filter(dataset=dataset, session_id__in=session_ids).values_list("session_id", "pk")
    )


# --- reads ---------------------------------------------------------------------------------------------


def score_splits(run: EvaluationRun) -> list[GroupScore]:
    return _group(_BY_SPLIT, run)


def score_tags(run: EvaluationRun) -> list[GroupScore]:
    """Those of most replies."""
    return _group(_BY_TAG, run)


def find_worst(run: EvaluationRun) -> dict[int, float]:
    """The lowest scores, by the primary keys of turns."""
    return dict(fetch_all(_WORST, _values(run)))


def _group(sql: str, run: EvaluationRun) -> list[GroupScore]:
    return [GroupScore(*row) for row in fetch_all(sql, _values(run))]


def _values(run: EvaluationRun) -> dict[str, int]:
    return {"run": run.pk, "dataset": run.release.dataset_id}
