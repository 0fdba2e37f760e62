"""Schema, guidelines, persona and people change while replies are labeled, queued again, undone and given to
others: each figure is the sum of what a list kept beside it says."""

import json
import random
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from annotations_app.agreement.criteria import measure_criteria
from annotations_app.campaigns.edit import edit_campaign
from annotations_app.criteria.schemas import import_schema
from annotations_app.estimates.measure import estimate_quality
from annotations_app.judges.judge_rows import read_people
from annotations_app.labeling.requeue_stale import requeue_replies, requeue_stale
from annotations_app.labels.export_annotations import export_annotations
from annotations_app.labels.versions import list_versions
from annotations_app.models import Assignment, Campaign, CampaignItem, Judgment, LabelSchema
from datasets_app.core.errors import UserError
from datasets_app.domain.labels.criterion import Criterion, Kind
from datasets_app.domain.labels.schema import Answers, encode_answers, is_asked
from tests.campaigns import (
    find_inconsistencies,
    lease_for,
    let_leases_run_out,
    make_campaign,
    make_replies,
    submit,
)

pytestmark = pytest.mark.django_db

NAMES = ("ana", "ben", "cyd")
# Each criterion as it is, and with another meaning of its codes.
CRITERIA = {
    "correct": ("kind: yes_no, question: Is it correct?", "kind: yes_no, question: Is all of it correct?"),
    "faults": (
        "kind: tags, question: Which?, when: {correct: 0}, answers: [tone, facts]",
        "kind: tags, question: Which?, when: {correct: 0}, answers: [facts, tone, length]",
    ),
    "tone": (
        "kind: choice, question: Which tone?, answers: [cold, warm]",
        "kind: choice, question: Which tone?, answers: [warm, neutral, cold]",
    ),
    "grade": (
        "kind: ordinal, question: How good?, answers: [1, 2, 3]",
        "kind: ordinal, question: How good?, answers: [1, 2, 3, 4]",
    ),
    "minutes": (
        "kind: number, question: How long?, optional: true",
        "kind: number, question: How many minutes?, optional: true",
    ),
    "why": ("kind: text, question: Why?, optional: true", "kind: text, question: Why so?, optional: true"),
    "solved": (
        "kind: yes_no, question: Is it solved?, of: session",
        "kind: yes_no, question: Is all of it solved?, of: session",
    ),
}
PRESSES = {"label": 40, "change": 10, "late": 3}
EVENTS = {"requeue": 6, "requeue_reply": 1, "schema": 5, "guidelines": 2, "persona": 1, "people": 3,
          "expire": 3, "overlap": 1}  # fmt: skip


class Label(NamedTuple):
    """What counts for an annotator and a reply. It ``waits`` where only other criteria are asked again."""

    answers: Answers
    schema: LabelSchema
    made: tuple[str, str]
    waits: bool = False

    def says(self, criterion: Criterion) -> Any:
        asked = self.schema.content.find(criterion.key)
        is_same = asked is not None and asked.digest == criterion.digest
        return self.answers.get(criterion.key) if is_same else None


class Simulation:
    def __init__(self, folder: Path, seed: int) -> None:
        self.chance = chance = random.Random(seed)
        dataset = make_replies(folder, chance.choice([2, 4]), turns=chance.choice([2, 4]))
        overlap = chance.choice([1, 2])
        kind = chance.choice(["plain", "adaptive" if overlap == 2 else "plain", "round"])
        options: dict[str, Any] = {"adaptive": {"max_overlap": 3}, "round": {"calibration_replies": 2}}
        self.labels: dict[tuple[str, int], Label] = {}
        self.stayed: dict[tuple[str, int], Label] = {}
        self.campaign = make_campaign(
            dataset, *NAMES, overlap=overlap, schema=self.draw_schema(), guidelines="A",
            order=chance.choice(["random", "session"]), repeat_share=chance.choice([0, 0.2]),
            **options.get(kind, {}),
        )  # fmt: skip
        self.reload()

    def reload(self) -> None:
        rows = Campaign.objects.select_related("persona", "schema", "dataset")
        self.campaign = rows.get(pk=self.campaign.pk)

    def draw_schema(self) -> LabelSchema:
        keys = [key for key in CRITERIA if self.chance.random() < 0.7 or key == "tone"]
        if "correct" not in keys and "faults" in keys:
            keys.remove("faults")
        lines = [f"  - {{key: {key}, {CRITERIA[key][self.chance.random() < 0.4]}}}\n" for key in keys]
        return import_schema("schema: quality\ncriteria:\n" + "".join(lines)).schema

    def edit(self, **changes: Any) -> None:
        edit_campaign(self.campaign, changes=changes, actor=None)
        self.reload()

    # --- what people press -----------------------------------------------------------------------

    def label(self) -> None:
        leased = lease_for(self.campaign, self.chance.choice(NAMES)).leased
        if leased:
            kind = self.chance.choices(["label", "skip", "flag"], [8, 1, 1])[0]
            self.decide(self.chance.choice(leased), kind)

    def change(self) -> None:
        self.decide_one_of(["labelled", "skipped", "flagged"], ["label", "skip", "undo", "undo"])

    def late(self) -> None:
        self.decide_one_of(["released"], ["label"])

    def decide_one_of(self, states: list[str], kinds: list[str]) -> None:
        rows = Assignment.objects.filter(campaign=self.campaign, state__in=states)
        if found := list(rows.select_related("annotator", "item").order_by("pk")):
            self.decide(self.chance.choice(found), self.chance.choice(kinds))

    def decide(self, assignment: Assignment, kind: str) -> None:
        key = (assignment.annotator.username, assignment.item.turn_id)
        values = self.draw_values(assignment) if kind == "label" else {}
        try:
            outcome = submit(assignment, kind, label=None, answers=values)
        except UserError:
            assert kind == "undo"
            return
        if outcome.what != "counted" or assignment.repeat:
            return
        if kind == "label":
            schema = self.campaign.schema
            made = (outcome.assignment.persona_digest, self.campaign.guidelines_digest)
            self.labels[key] = Label(encode_answers(schema.content, values), schema, made)
            self.drop_replaced(assignment.item_id)
        else:
            self.labels.pop(key, None)
            if kind == "undo" and key in self.stayed:
                self.labels[key] = self.stayed[key]

    def draw_values(self, assignment: Assignment) -> dict[str, Any]:
        schema, values, said = self.campaign.schema.content, {}, Answers({}, {})
        for question in schema.questions:
            one = question.criterion
            is_left_out = one.is_of_session and not assignment.item.asks_session
            if (
                is_left_out
                or question.optional
                and self.chance.random() < 0.5
                or not is_asked(question, said)
            ):
                continue
            if one.kind == Kind.TAGS:
                values[one.key] = [value for value in one.values if self.chance.random() < 0.5]
            elif one.levels:
                code = self.chance.choice(one.codes)
                values[one.key], said.codes[one.key] = one.values[code], code
            else:
                values[one.key] = self.chance.randint(1, 9) if one.kind == Kind.NUMBER else "words"
        return values

    def drop_replaced(self, item_pk: int) -> None:
        """Of labels that wait as many stay as there are places; which ones is up to the application."""
        item = CampaignItem.objects.get(pk=item_pk)
        here = [key for key in self.labels if key[1] == item.turn_id]
        counted = Judgment.objects.filter(campaign=self.campaign, turn=item.turn_id, kind="label")
        names = set(counted.values_list("rater__name", flat=True))
        for key in here:
            if key[0] not in names:
                assert self.labels.pop(key).waits
        if not item.calibration:
            places = self.campaign.overlap + item.extra
            assert len(names) == min(len(here), places)

    # --- what happens meanwhile ------------------------------------------------------------------

    def requeue(self) -> None:
        causes = self.chance.sample(["persona", "guidelines", "schema"], self.chance.randint(1, 3))
        now = (self.campaign.persona.digest, self.campaign.guidelines_digest)
        changed: dict[tuple[str, int], Label | None] = {}
        for key, label in self.labels.items():
            others = any(
                cause in causes and label.made[place] != now[place]
                for place, cause in enumerate(("persona", "guidelines"))
            )
            is_schema = label.schema.digest != self.campaign.schema.digest and not label.waits
            if others or is_schema and "schema" in causes:
                asked = {one.digest for one in label.schema.content.criteria}
                shares = any(one.digest in asked for one in self.campaign.schema.content.criteria)
                changed[key] = None if others or not shares else label._replace(waits=True)
        assert requeue_stale(self.campaign, causes=causes, actor=None) == len(changed)
        for key, waiting in changed.items():
            self.stayed.pop(key, None)
            if waiting is None:
                del self.labels[key]
            else:
                self.labels[key] = self.stayed[key] = waiting

    def requeue_reply(self) -> None:
        if self.labels:
            turn = self.chance.choice(list(self.labels))[1]
            here = [key for key in self.labels if key[1] == turn]
            assert requeue_replies(self.campaign, [turn], actor=None) == len(here)
            for key in here:
                del self.labels[key]
                self.stayed.pop(key, None)

    def schema(self) -> None:
        later = self.draw_schema()
        if later.version > self.campaign.schema.version:
            self.edit(schema=later)

    def guidelines(self) -> None:
        self.edit(guidelines=self.chance.choice("ABC"))

    def persona(self) -> None:
        persona = self.campaign.persona
        persona.yaml += "# more\n"
        persona.save()
        self.reload()

    def people(self) -> None:
        fewest = max(2, self.campaign.overlap)
        self.edit(annotators=self.chance.sample(NAMES, self.chance.randint(fewest, 3)))

    def expire(self) -> None:
        let_leases_run_out(campaign=self.campaign)

    def overlap(self) -> None:
        active = self.campaign.members.filter(active=True).count()
        if self.campaign.overlap < active and self.campaign.max_overlap is None:
            self.edit(overlap=self.campaign.overlap + 1)

    # --- figures ---------------------------------------------------------------------------------

    def check_labels(self) -> None:
        assert not find_inconsistencies()
        rows = Judgment.objects.filter(campaign=self.campaign, kind="label")
        assert sorted(rows.values_list("rater__name", "turn_id")) == sorted(self.labels)

    def check_figures(self) -> None:
        given = Assignment.objects.filter(campaign=self.campaign, extra=True)
        beyond = set(given.values_list("annotator__username", "item__turn_id"))
        measured = {
            one.criterion.key: one for one in reversed(measure_criteria(self.campaign, resamples=5).criteria)
        }
        rates = {one.criterion: one for one in estimate_quality(self.campaign).rates}
        for criterion in self.campaign.schema.content.criteria:
            said = {key: one.says(criterion) for key, one in self.labels.items()}
            said = {key: stored for key, stored in said.items() if stored is not None}
            first = {key: stored for key, stored in said.items() if key not in beyond}
            answers = {answer.name: answer.labels for answer in measured[criterion.key].answers}
            assert answers == count_answers(criterion, list(first.values()))
            if criterion.key in rates:
                assert rates[criterion.key].people.labels == len({turn for _, turn in first})
            if criterion.levels:
                turn, value = read_people(self.campaign, criterion)
                people = sorted(zip(turn.tolist(), value.tolist(), strict=True))
                assert people == sorted((turn, stored) for (_, turn), stored in said.items())
        versions = list_versions(self.campaign)
        made = Counter((*label.made, label.schema.pk) for label in self.labels.values())
        assert made == Counter(
            {
                (one.persona_digest, one.guidelines_digest, one.schema): one.labels
                for one in versions
                if one.labels
            }
        )
        self.check_files()

    def check_files(self) -> None:
        for labels in ("all", "majority"):
            scope: Any = {
                "dataset": self.campaign.dataset,
                "schema": self.campaign.schema,
                "campaign": self.campaign,
            }
            out = BytesIO()
            if not self.labels:
                continue
            try:
                export_annotations(**scope, out=out, labels=labels)
            except UserError:  # none has an answer that most gave
                assert labels == "majority"
                continue
            lines = [json.loads(line) for line in out.getvalue().splitlines()]
            if labels == "all":
                sums = (len(label.answers.codes) + len(label.answers.texts) for label in self.labels.values())
                assert len(lines) == sum(sums)
                continue
            for line in lines:
                self.check_majority(line)

    def check_majority(self, line: dict[str, Any]) -> None:
        assert line["schema"] == self.campaign.schema.full_name
        criterion = self.campaign.schema.content.find(line["criterion"])
        turns = self.campaign.dataset.turns.filter(turn_index=line["turn_index"])
        turn = turns.get(session__session_id=line["session_id"]).pk
        votes = Counter(one.says(criterion) for (_, reply), one in self.labels.items() if reply == turn)
        del votes[None]
        said = line["value"]
        stored = (
            sum(1 << criterion.values.index(one) for one in said)
            if criterion.kind == Kind.TAGS
            else criterion.values.index(said)
            if criterion.levels
            else said
        )
        assert [count for _, count in votes.most_common()][:1] == [votes[stored]]


def count_answers(criterion: Criterion, stored: list[Any]) -> dict[str, int]:
    if criterion.kind == Kind.TEXT:
        return {"texts": len(stored)}
    if criterion.kind == Kind.NUMBER:
        return {f"{number:g}": stored.count(number) for number in sorted(set(stored))}
    if criterion.kind == Kind.TAGS:
        levels = {name: sum(one >> code & 1 for one in stored) for code, name in criterion.choices}
        return {**levels, "none of them": stored.count(0)}
    return {name: stored.count(code) for code, name in criterion.choices}


@pytest.mark.parametrize("seed", range(4))
def test_every_figure_is_the_sum_of_the_labels_that_count(tmp_path: Path, seed: int) -> None:
    simulation = Simulation(tmp_path, seed)
    steps = {**PRESSES, **EVENTS}
    for number in range(1, 61):
        [step] = simulation.chance.choices(list(steps), list(steps.values()))
        getattr(simulation, step)()
        if step in EVENTS or step == "change":
            simulation.check_labels()
        if number % 15 == 0:
            simulation.check_figures()
