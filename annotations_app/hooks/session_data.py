"""What this app stores about sessions, column by column: see ``datasets_app/models/session_data.py``.

Labels, and the campaign work behind them, are scrubbed and deleted together with their conversations.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from alignmenter_site.keys.hash_key import hash_key
from annotations_app.campaigns.counters import delete_items, subtract_sessions
from annotations_app.criteria.rubrics import PREFIX
from annotations_app.labels.label_places import (
    ORIGINAL_SESSION,
    PLACE_SESSION,
    find_labels_naming,
    split_hashed_ids,
)
from annotations_app.labels.label_writing import CONTACT
from annotations_app.models import (
    Annotation,
    Assignment,
    Campaign,
    CampaignItem,
    CampaignMember,
    Decision,
    FailureMode,
    GroupedNote,
    Judge,
    JudgeCertificate,
    JudgeRun,
    Judgment,
    LabelSchema,
    PairedReply,
    Rater,
    Verdict,
)
from datasets_app.catalog.rows.turn_writer import encode_jsonb
from datasets_app.core.queries import execute
from datasets_app.domain.pii.session_ids import hash_session_id
from datasets_app.models import Persona, Turn
from datasets_app.models.session_data import Changes, HashId, SaidBySession, SessionData, register
from datasets_app.session_data import DIGEST, NAME, TIME, WRITTEN

# No turn has it: a campaign that is still to be filled must not take all replies.
ERASED_TAG = "[erased]"
PLACES = "places in a text, and its digest"
CODES = "numbers that stand for answers"
# Keys of a label that hold a session id.
_SESSION_KEYS = (PLACE_SESSION, ORIGINAL_SESSION)

# The turns have been scrubbed before.
_UPDATE_TIMES = """
UPDATE annotations_app_annotation a SET timestamp = t.timestamp
FROM datasets_app_turn t
WHERE a.id = ANY(%s) AND t.dataset_id = %s AND t.id = a.turn_id AND a.timestamp IS DISTINCT FROM t.timestamp
"""
_DROP_EVIDENCE = """
UPDATE {table} l SET evidence = NULL FROM datasets_app_turn t
WHERE l.dataset_id = %s AND l.evidence IS NOT NULL AND t.dataset_id = l.dataset_id AND t.id = l.turn_id
  AND l.evidence->>'digest' <> encode(sha256(convert_to(t.text, 'UTF8')), 'hex')
"""


def make_pseudonym(annotator: str) -> str:
    """Keeps annotators apart, as one placeholder for all would not."""
    return f"annotator-{hash_session_id(annotator, hash_key())[:8]}"


class _Campaigns(SessionData):
    def close(self, dataset: Any) -> None:
        """Stop giving replies of the dataset to annotators."""
        self.rows(dataset).update(status=Campaign.Status.CLOSED)

    def prepare_deletion(self, dataset: Any, sessions: Iterable[int] | None) -> None:
        """Correct the counters of campaigns and annotators, and forget rubrics and tags that no other session
        has. Those of a whole dataset are deleted."""
        if sessions is None:
            members = CampaignMember.objects.filter(campaign__dataset=dataset).order_by("pk")
            list(members.select_for_update(of=("self",), no_key=True).values_list("pk"))
            PairedReply.objects.filter(item__campaign__dataset=dataset).delete()
            return
        keys = list(sessions)
        subtract_sessions(keys)
        CampaignMember.objects.filter(session__in=keys).update(session=None)
        PairedReply.objects.filter(item__session__in=keys).delete()
        items = CampaignItem.objects.filter(campaign=OuterRef("pk"))
        # Their guidelines are the rubrics of the case.
        rubrics = self.rows(dataset).filter(Exists(items), schema__name__startswith=PREFIX)
        rubrics.exclude(Exists(items.exclude(session__in=keys))).update(guidelines="")
        for campaign in self.rows(dataset).exclude(tag=""):
            tagged = Turn.objects.filter(dataset=dataset, tags__contains=[campaign.tag])
            if not tagged.exclude(session__in=keys).exists():
                self.rows(dataset).filter(pk=campaign.pk).update(tag=ERASED_TAG)


class _PairedReplies(SessionData):
    """The rows of the other dataset of campaigns that compare replies."""

    def drop_outdated(self, dataset: Any) -> int:
        """Drop judges' reasons, which may quote either reply but are scrubbed with the campaign's own."""
        of_pairs = Verdict.objects.filter(run__campaign__other_dataset=dataset, rationale__isnull=False)
        return of_pairs.update(rationale=None)

    def close(self, dataset: Any) -> None:
        Campaign.objects.filter(other_dataset=dataset).update(status=Campaign.Status.CLOSED)

    def prepare_deletion(self, dataset: Any, sessions: Iterable[int] | None) -> None:
        """Delete the items whose other reply is deleted, with their labels: they were about both."""
        if items := list(self.rows(dataset, sessions).values_list("pk", flat=True)):
            delete_items(items)


class _Placed(SessionData):
    """Labels: their unknown keys may name another session than that of their turn, and words that annotators
    marked are places in a text that a scrub may change."""

    def drop_outdated(self, dataset: Any) -> int:
        return execute(_DROP_EVIDENCE.format(table=self.table), [dataset.pk])

    def find_naming(self, dataset: Any, matches: Callable[[str], bool]) -> set[int]:
        """Sessions that were made for labels of the erased session, imported where it was not stored."""
        named = find_labels_naming(self.model, dataset, matches, PLACE_SESSION)
        return {session for _, session, turn_count in named if turn_count == 1}

    def delete_naming(self, dataset: Any, matches: Callable[[str], bool]) -> int:
        """Labels of the erased session that were joined to a turn of another one by its text."""
        named = [label for label, *_ in find_labels_naming(self.model, dataset, matches, *_SESSION_KEYS)]
        self.model._default_manager.filter(pk__in=named).delete()
        return len(named)


class _Labels(_Placed):
    """References are pairs of a label and of its unknown keys that aren't text to look at."""

    def read_said(self, dataset: int, sessions: Sequence[int]) -> SaidBySession:
        """Labels with notes or unknown keys, those that repeat the turn's time (they came with the turn, in a
        conversation file) or a persona that is none, and imported ones whose annotator is an address or a
        number."""
        personas = Persona.objects.filter(persona_id=OuterRef("persona_id"))
        rows = (
            self.rows(dataset, sessions)
            .annotate(
                unknown_persona=~Exists(personas),
                same_time=Q(timestamp=F("turn__timestamp")),
                # Names of accounts are known here. So are those of people in files: they stay.
                is_contact=Q(campaign=None, annotator__regex=CONTACT.pattern),
            )
            .filter(
                Q(notes__isnull=False)
                | Q(extra__isnull=False)
                | Q(unknown_persona=True)
                | Q(same_time=True)
                | Q(is_contact=True)
            )
            .order_by("id")
            .select_for_update(of=("self",))
            .select_related("turn")
            .only("notes", "extra", "persona_id", "annotator", "turn__session_id", "turn__turn_index")
        )
        found: SaidBySession = defaultdict(list)
        for label in rows:
            kept, others = split_hashed_ids(label.extra)
            value = {
                "turn_index": label.turn.turn_index,
                "notes": label.notes,
                "extra": others or None,
                "persona_id": label.persona_id if label.unknown_persona else None,
                "annotator": label.annotator if label.is_contact else None,
            }
            said = {key: item for key, item in value.items() if item is not None}
            found[label.turn.session_id].append(((label, kept), said))
        return found

    def write_said(self, dataset: int, changes: Changes, hash_id: HashId | None) -> None:
        rows: list[tuple[Any, ...]] = []
        for (label, kept), before, after in changes:
            said, annotator = after.get("extra") or {}, label.annotator
            if after.get("annotator") != before.get("annotator"):
                annotator = make_pseudonym(before["annotator"])
            if hash_id is not None:
                said = _with_hashed_ids(said, before.get("extra") or {}, hash_id)
            extra = {**kept, **said} or None
            changed = (after.get("notes"), after.get("persona_id", label.persona_id), annotator)
            if (extra, *changed) != (label.extra or None, label.notes, label.persona_id, label.annotator):
                rows.append((label.pk, extra and encode_jsonb(extra), *changed))
        self.update_rows(["extra", "notes", "persona_id", "annotator"], rows)
        timed = [label.pk for (label, _), _, _ in changes if label.same_time]
        execute(_UPDATE_TIMES, [timed, dataset])


class _Answers(SessionData):
    """``texts`` are answers by criterion: what is scrubbed are the answers, without the names of criteria."""

    def read_said(self, dataset: int, sessions: Sequence[int]) -> SaidBySession:
        return {
            session: [_split_answer(pk, said) for pk, said in rows]
            for session, rows in super().read_said(dataset, sessions).items()
        }

    def write_said(self, dataset: int, changes: Changes, hash_id: HashId | None) -> None:
        rows = []
        for (pk, keys, kept), before, after in changes:
            extra = after.get("extra") or {}
            if hash_id is not None:
                extra = _with_hashed_ids(extra, before.get("extra") or {}, hash_id)
            if (after, extra) == (before, before.get("extra") or {}):
                continue
            values = {
                "notes": after.get("notes"),
                "texts": encode_jsonb(dict(zip(keys, after["texts"], strict=True))) if keys else None,
                "extra": encode_jsonb({**kept, **extra}) if kept or extra else None,
            }
            rows.append((pk, *map(values.get, self.scrubbed)))
        self.update_rows(list(self.scrubbed), rows)


class _Judgments(_Placed, _Answers):
    pass


def _split_answer(pk: int, said: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """((primary key, criteria with texts, hashed ids), what is to be scrubbed)."""
    kept, others = split_hashed_ids(said.get("extra"))
    texts = said.get("texts") or {}
    changed = {"texts": list(texts.values()), "extra": others}
    rest = {key: value for key, value in said.items() if key not in changed}
    return (pk, list(texts), kept), rest | {key: value for key, value in changed.items() if value}


class _Grouped(SessionData):
    """Notes in failure modes: of labels of either kind."""

    def rows(self, dataset: Any, sessions: Iterable[int] | None = None) -> QuerySet[Any]:
        rows = super().rows(dataset)
        if sessions is None:
            return rows
        keys = list(sessions)
        of_label, of_judgment = Q(annotation__turn__session__in=keys), Q(judgment__turn__session__in=keys)
        return rows.filter(of_label | of_judgment)


class _Raters(SessionData):
    def scrub_columns(self, rows: QuerySet[Any], scrub_text: Callable[[str], str]) -> None:
        """As the annotators of labels: those from files that may be an address or a number."""
        for rater in rows.filter(kind=Rater.Kind.IMPORT, name__regex=CONTACT.pattern):
            rows.filter(pk=rater.pk).update(name=make_pseudonym(rater.name))


def _with_hashed_ids(
    said: dict[str, Any], before: dict[str, Any], hash_id: Callable[[str], str]
) -> dict[str, Any]:
    named = {key: before[key] for key in _SESSION_KEYS if type(before.get(key)) is str}
    return {**said, **{key: hash_id(session_id) for key, session_id in named.items()}}


def register_models() -> None:
    register(
        SessionData(LabelSchema, harmless={"what is asked of replies": "name document", DIGEST: "digest"}),
        _Campaigns(
            Campaign,
            "campaigns",
            "dataset",
            # The tag was chosen from those of the turns.
            scrubbed={"tag": ""},
            left={WRITTEN: "guidelines"},
            harmless={NAME: "name", "one of three": "split", "counts": "unpaired"},
        ),
        SessionData(CampaignMember, dataset="campaign__dataset"),
        _Labels(
            Annotation,
            "labels",
            "dataset",
            "turn__session",
            "turn__turn_index",
            scrubbed={"notes": "labels", "extra": "labels", "persona_id": "", "annotator": ""},
            harmless={
                DIGEST: "persona_digest guidelines_digest",
                TIME: "timestamp",
                PLACES: "evidence",
            },
        ),
        SessionData(CampaignItem, "campaign_items", "campaign__dataset", "session"),
        _PairedReplies(PairedReply, "", "dataset", "turn__session"),
        SessionData(
            Assignment,
            "assignments",
            "campaign__dataset",
            "item__session",
            harmless={DIGEST: "persona_digest"},
        ),
        _Answers(
            Decision,
            "decisions",
            "assignment__campaign__dataset",
            "assignment__item__session",
            "assignment__item__turn__turn_index",
            scrubbed={"notes": "labels", "texts": "labels"},
            harmless={DIGEST: "persona_digest", CODES: "codes revealed"},
        ),
    )
    _register_judgments()
    _register_judges()


def _register_judges() -> None:
    register(
        SessionData(Judge, harmless={"how a model is asked": "name document", DIGEST: "digest"}),
        SessionData(
            Verdict,
            "verdicts",
            "dataset",
            "turn__session",
            "turn__turn_index",
            scrubbed={"rationale": "labels"},
            harmless={CODES: "codes", "a reason of our own making": "failure"},
        ),
        SessionData(
            JudgeRun,
            "judge_runs",
            "campaign__dataset",
            harmless={
                DIGEST: "prompt_digest persona_digest guidelines_digest",
                "keys and counts": "examples members used",
                "a sentence of our own making": "stopped",
            },
        ),
        SessionData(
            JudgeCertificate,
            "judge_certificates",
            "campaign__dataset",
            harmless={
                DIGEST: "criterion_digest prompt_digest persona_digest guidelines_digest",
                "keys and counts": "criterion result",
            },
        ),
    )


def _register_judgments() -> None:
    register(
        _Raters(
            Rater,
            dataset="dataset",
            scrubbed={"name": ""},
            harmless={"a version of a model": "version", DIGEST: "prompt_digest"},
        ),
        _Judgments(
            Judgment,
            "judgments",
            "dataset",
            "turn__session",
            "turn__turn_index",
            scrubbed={"notes": "labels", "texts": "labels", "extra": "labels"},
            harmless={
                DIGEST: "persona_digest guidelines_digest",
                CODES: "codes",
                PLACES: "evidence",
                TIME: "timestamp",
                "a voice, not a person": "persona_id",
            },
        ),
    )
    register(
        SessionData(FailureMode, dataset="campaign__dataset", left={WRITTEN: "name"}),
        _Grouped(GroupedNote, dataset="mode__campaign__dataset", session="annotation__turn__session"),
    )
