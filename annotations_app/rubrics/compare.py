"""What people and models say of each rubric: grades of `rubric-grade` are kept as those of a judge."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from django.db import transaction
from django.utils import timezone

from annotations_app.criteria.rubrics import are_guidelines_of, key_of
from annotations_app.domain.agreement.coefficients import cohen_kappa
from annotations_app.domain.judging.judge_document import MODEL_PREFIX, JudgeDocument
from annotations_app.judges.judges import save_judge
from annotations_app.models import Campaign, Judge, JudgeRun, Verdict
from annotations_app.rubrics.cases import RubricCase, read_cases
from annotations_app.rubrics.create import find_campaigns
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.domain.untrusted_json import parse_storable
from datasets_app.models import Dataset, Turn

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
MAX_EVIDENCE_CHARACTERS = 2000


class ImportedGrades(NamedTuple):
    """Verdicts on rubrics kept; those of unknown cases or rubrics, and those that the model didn't give."""

    judge: str
    kept: int
    unknown: int
    not_graded: int


class RubricVerdicts(NamedTuple):
    """Of one rubric (``number`` from 1) of a case: labels of people, with and without it met, how many of
    them are stale and so not counted, and the verdict of each judge."""

    case: RubricCase
    number: int
    campaign: str
    met: int
    not_met: int
    stale: int
    judges: dict[str, bool]

    @property
    def majority(self) -> bool | None:
        return None if self.met == self.not_met else self.met > self.not_met


class Pooled(NamedTuple):
    """Over all rubrics: what was compared, and how often both said the same."""

    name: str
    compared: int
    agreed: int
    kappa: float | None


def import_grades(text: str, dataset: Dataset) -> ImportedGrades:
    """Keep the report that `rubric-grade --out` wrote, for the campaigns of the dataset's rubrics; what it
    says again replaces what it said. Raises UserError."""
    model, graded = _read_report(text)
    cases = {case.session_id: case for case in read_cases(dataset)}
    campaigns = find_campaigns(dataset)
    name = f"rubric-grade.{_NOT_IN_NAMES.sub('-', model)}"[:100]
    counts: Counter[str] = Counter()
    with transaction.atomic():
        document = JudgeDocument(name, "Imported from rubric-grade", f"{MODEL_PREFIX}{model[:100]}")
        judge = save_judge(document).judge
        for session_id, verdicts in graded.items():
            case = cases.get(session_id)
            campaign = campaigns.get(case.reply.pk) if case else None
            if case is None or campaign is None or not are_guidelines_of(case.rubrics, campaign.guidelines):
                counts["unknown"] += len(verdicts)
                continue
            counts += _keep(judge, campaign, case, verdicts)
        if not counts["kept"]:
            raise UserError(
                f"No verdict of the report is about a rubric that people judge in {dataset.name}. Create "
                "campaigns for its rubrics first."
            )
        audit.record(
            "import_grades",
            actor=None,
            dataset_name=dataset.name,
            judge=judge.full_name,
            judged=counts["kept"],
        )
    return ImportedGrades(judge.full_name, counts["kept"], counts["unknown"], counts["not_graded"])


def compare_rubrics(dataset: Dataset) -> tuple[list[RubricVerdicts], list[Pooled]]:
    """Each rubric, and over all of them people among themselves and each judge with their majority."""
    found: list[RubricVerdicts] = []
    pairs: defaultdict[str, list[tuple[bool, bool]]] = defaultdict(list)
    campaigns = find_campaigns(dataset)
    for case in read_cases(dataset):
        if (campaign := campaigns.get(case.reply.pk)) is None:
            continue
        labels = campaign.judgments.filter(kind="label", turn=case.reply)
        stale = set(labels.model.objects.stale(campaign).filter(turn=case.reply).values_list("pk", flat=True))
        said = [codes for pk, codes in labels.order_by("pk").values_list("pk", "codes") if pk not in stale]
        verdicts = _read_verdicts(campaign, case.reply)
        for number in range(1, len(case.rubrics) + 1):
            key = key_of(number)
            answers = [bool(codes[key]) for codes in said if key in codes]
            judges = {judge: bool(codes[key]) for judge, codes in verdicts.items() if key in codes}
            row = RubricVerdicts(
                case, number, campaign.name, sum(answers), answers.count(False), len(stale), judges
            )
            found.append(row)
            pairs["people"] += list(zip(answers[:1], answers[1:2], strict=False))
            for judge, verdict in judges.items() if row.majority is not None else ():
                pairs[judge].append((bool(row.majority), verdict))
    return found, [_pool(name, of_name) for name, of_name in pairs.items() if of_name]


def _read_report(text: str) -> tuple[str, dict[str, list[dict[str, Any]]]]:
    try:
        report = parse_storable(text)
        graded = {str(case["case_id"]): list(case["verdicts"]) for case in report["cases"]}
        if report["mode"] == "grade" and all(type(one) is dict for case in graded.values() for one in case):
            return str(report["judge"]), graded
    except (ValueError, KeyError, TypeError):
        pass
    raise UserError("This is not a report of `alignmenter rubric-grade --out FILE`.")


def _keep(
    judge: Judge, campaign: Campaign, case: RubricCase, verdicts: Iterable[dict[str, Any]]
) -> Counter[str]:
    counts: Counter[str] = Counter()
    numbers = {rubric.criterion: number for number, rubric in reversed(list(enumerate(case.rubrics, 1)))}
    codes, evidence = {}, []
    for verdict in verdicts:
        number = numbers.get(str(verdict.get("criterion")).strip())
        if number is None:
            counts["unknown"] += 1
        elif type(verdict.get("met")) is not bool:
            counts["not_graded"] += 1
        else:
            codes[key_of(number)] = int(verdict["met"])
            if said := str(verdict.get("evidence") or ""):
                evidence.append(f"{number}. {said}")
    if not codes:
        return counts
    # What was graded is part of the prompt: other rubrics make another run.
    prompt = hashlib.sha256(f"rubric-grade {campaign.guidelines_digest}".encode()).hexdigest()
    run, _ = JudgeRun.objects.get_or_create(
        campaign=campaign,
        judge=judge,
        prompt_digest=prompt,
        defaults={
            "schema": campaign.schema,
            "persona_digest": campaign.persona.digest,
            "guidelines_digest": campaign.guidelines_digest,
            "ended_at": timezone.now(),
        },
    )
    Verdict.objects.update_or_create(
        run=run,
        turn_id=case.reply.pk,
        repeat=0,
        defaults={
            "dataset": campaign.dataset,
            "codes": codes,
            "rationale": "\n".join(evidence)[:MAX_EVIDENCE_CHARACTERS] or None,
        },
    )
    return counts + Counter(kept=len(codes))


def _read_verdicts(campaign: Campaign, reply: Turn) -> dict[str, dict[str, int]]:
    """By judge: those on the reply under the rubrics as they are, the latest run of each."""
    rows = Verdict.objects.filter(turn=reply).filter(
        run__campaign=campaign, run__guidelines_digest=campaign.guidelines_digest, repeat=0, failure=""
    )
    found = rows.order_by("run__pk").values_list("run__judge__name", "run__judge__version", "codes")
    return {f"{name}@{version}": codes for name, version, codes in found}


def _pool(name: str, pairs: list[tuple[bool, bool]]) -> Pooled:
    table = np.zeros((2, 2), np.int64)
    np.add.at(table, tuple(np.array(pairs, np.int64).T), 1)
    kappa = float(cohen_kappa(table))
    return Pooled(name, len(pairs), int(table.trace()), None if np.isnan(kappa) else kappa)
