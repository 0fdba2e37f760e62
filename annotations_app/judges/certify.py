"""Tests a judge once, on labels of the test split, and says for how long the result holds."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
from django.db import IntegrityError, transaction
from msgspec.structs import asdict

from annotations_app.criteria.versions import latest_versions
from annotations_app.domain.estimates.alternative import DEFAULT_EPSILON, AlternativeTest
from annotations_app.domain.estimates.certificates import (
    DEFAULT_THRESHOLD,
    Certification,
    certify,
)
from annotations_app.domain.judging.jury_document import Jury
from annotations_app.judges.alternative import check_epsilon, measure_alternative
from annotations_app.judges.disagreements import find_consensus
from annotations_app.judges.judge_rows import (
    look_up,
    read_people_at_random,
    read_raters,
    read_sessions,
    read_verdicts,
)
from annotations_app.judges.run_judge import choose_criterion
from annotations_app.models import Campaign, Judge, JudgeCertificate, JudgeRun
from datasets_app.catalog.personas import parse_persona_text
from datasets_app.catalog.policies import LOCKED_SPLIT
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.domain.labels.criterion import Criterion, Kind
from datasets_app.domain.packages import quality_statement
from datasets_app.domain.packages.quality_statement import StatedAlternative, StatedCertificate, StatedRate

MIN_THRESHOLD = 0.5


def certify_judge(
    run: JudgeRun,
    *,
    criterion: str = "",
    threshold: float = DEFAULT_THRESHOLD,
    epsilon: float = DEFAULT_EPSILON,
    actor: Any = None,
) -> JudgeCertificate:
    """Measure what a judge says against what most people say on the test split, and keep the result.

    The campaign asks of the test split only; drafts are measured elsewhere as often as one likes. Of one
    prompt there is one test for each criterion. Without ``criterion`` it is the only yes/no one. Raises
    UserError.
    """
    campaign = run.campaign
    _check_test(campaign, threshold, epsilon)
    asked = choose_criterion(list_certifiable(campaign), criterion, "Choose a yes/no criterion")
    result, alternative = _measure(run, asked, threshold, epsilon)
    try:
        with transaction.atomic():
            certificate = JudgeCertificate.objects.create(
                campaign=campaign,
                judge=run.judge,
                criterion=asked.key,
                criterion_digest=asked.digest,
                prompt_digest=run.prompt_digest,
                persona_digest=run.persona_digest,
                guidelines_digest=run.guidelines_digest,
                threshold=threshold,
                certified=result.certified,
                result=_as_json(result) | {"alternative": alternative and asdict(alternative.summary)},
                created_by=actor,
            )
            audit.record(
                "certify_judge",
                actor=actor,
                dataset_name=campaign.dataset.name,
                campaign=campaign.name,
                judge=run.judge.full_name,
                criterion=asked.key,
                certified=result.certified,
            )
    except IntegrityError:
        raise UserError(
            f"{run.judge.full_name} has been tested for {asked.key} before. The test split is used once for "
            "each version: make the next one."
        ) from None
    return certificate


def list_certificates(runs: Iterable[JudgeRun]) -> dict[tuple[int, str], list[JudgeCertificate]]:
    """By judge and prompt those of these runs, taken in any campaign, the latest first."""
    found = defaultdict(list)
    rows = JudgeCertificate.objects.filter(judge__in={run.judge_id for run in runs})
    for one in rows.select_related("judge", "campaign__dataset", "campaign__persona", "campaign__schema"):
        found[one.judge_id, one.prompt_digest].append(one)
    return found


def list_certifiable(campaign: Campaign) -> list[Criterion]:
    """Criteria that a judge can be tested for."""
    return [one for one in campaign.asked_schema.criteria if one.kind == Kind.YES_NO]


def name_criterion(certificate: JudgeCertificate) -> str:
    """The question that was asked, or the key of a criterion that the campaign no longer has."""
    questions = {one.key: one.question for one in certificate.campaign.asked_schema.criteria}
    return questions.get(certificate.criterion, certificate.criterion)


def list_changes(certificate: JudgeCertificate) -> list[str]:
    """What has changed since, so that a certificate holds no longer; [] while it does."""
    campaign = certificate.campaign
    _, persona_digest = parse_persona_text(campaign.persona.yaml, campaign.persona.persona_id)
    criteria = {one.key: one.digest for one in campaign.asked_schema.criteria}
    later = Judge.objects.filter(name=certificate.judge.name, version__gt=certificate.judge.version)
    changed = {
        "the criterion": criteria.get(certificate.criterion) != certificate.criterion_digest,
        "the persona": persona_digest != certificate.persona_digest,
        "the guidelines": campaign.guidelines_digest != certificate.guidelines_digest,
        "the judge": later.exists(),
        "a member": _has_later_member(certificate.judge.content.jury),
    }
    return [name for name, is_so in changed.items() if is_so]


def _has_later_member(jury: Jury | None) -> bool:
    return jury is not None and not (
        {member.judge for member in jury.members} <= {judge.full_name for judge in latest_versions(Judge)}
    )


def describe_certificate(certificate: JudgeCertificate) -> list[str]:
    """The verdict, both rates, why not, and what has changed since: a sentence each."""
    return quality_statement.describe_certificate(state_certificate(certificate))


def state_certificate(certificate: JudgeCertificate) -> StatedCertificate:
    """As releases, packages and the API state it, with whether it holds."""
    result, alternative = certificate.result, certificate.result.get("alternative")
    return StatedCertificate(
        certificate.judge.full_name,
        certificate.criterion,
        certificate.campaign.name,
        certificate.created_at.date().isoformat(),
        certificate.certified,
        certificate.threshold,
        *(_state_rate(result.get(name) or {}) for name in ("true_positive", "true_negative")),
        replies=result.get("replies", 0),
        not_judged=result.get("not_judged", 0),
        reasons=tuple(result.get("reasons", ())),
        changed=tuple(list_changes(certificate)),
        alternative=StatedAlternative(**alternative) if alternative else None,
    )


def _state_rate(rate: dict[str, Any]) -> StatedRate:
    return StatedRate(rate.get("rate"), rate.get("bound"), rate.get("replies", 0))


def _check_test(campaign: Campaign, threshold: float, epsilon: float) -> None:
    if campaign.split != LOCKED_SPLIT:
        raise UserError(
            f"A judge is tested once, on the {LOCKED_SPLIT} split; {campaign.name} asks about other replies. "
            "Measure drafts on its page, and make a campaign of the test split for the test."
        )
    if not MIN_THRESHOLD <= threshold < 1:
        raise UserError(f"The threshold must be from {MIN_THRESHOLD} to below 1.")
    check_epsilon(epsilon)


def _measure(
    run: JudgeRun, criterion: Criterion, threshold: float, epsilon: float
) -> tuple[Certification, AlternativeTest | None]:
    turn, label, _ = find_consensus(*read_people_at_random(run.campaign, criterion), 2)
    kept = ~np.isin(turn, run.examples)
    turn, label = turn[kept], label[kept]
    if not len(turn):
        raise UserError(f"No reply of {run.campaign.name} has a label of most people.")
    verdicts, sessions = read_verdicts(run, criterion), read_sessions(run.campaign)
    raters = read_raters(run.campaign, criterion)
    return (
        certify(sessions.session_of(turn), label, look_up(turn, *verdicts), threshold),
        measure_alternative(raters, verdicts, sessions, criterion, 2, lambda value: value, epsilon),
    )


def _as_json(result: Certification) -> dict[str, Any]:
    return {
        "true_positive": result.true_positive._asdict(),
        "true_negative": result.true_negative._asdict(),
        "replies": result.replies,
        "not_judged": result.not_judged,
        "reasons": list(result.reasons),
    }
