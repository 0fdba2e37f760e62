"""The rules of every gate: facts in, verdict out, no database."""

from datetime import date
from typing import Any

import pytest

from datasets_app.catalog import policies
from datasets_app.catalog.dataset_facts import (
    AttestationFacts,
    DatasetFacts,
    Remedy,
    TextFacts,
)
from datasets_app.catalog.policies import (
    Allowed,
    Blocker,
    Gate,
    Overridden,
    OverrideRequest,
    Refused,
)
from datasets_app.domain.pii.exemptions import ExemptCount

TEXT = TextFacts(last_session=9, scanned_to=9, turn_count=4)
RAW = DatasetFacts("support", "production", "raw", turn_count=4, text=TEXT)
SCRUBBED = RAW._replace(status="scrubbed", text=TEXT._replace(scrubbed_to=9))
SYNTHETIC = RAW._replace(origin="synthetic")
ATTESTED = AttestationFacts("olga", date(2026, 5, 4), "public data")
EXPIRED = SCRUBBED._replace(status="expired", deleted_on=date(2026, 5, 4))
DURING_SCRUB = SCRUBBED._replace(scrub_job=7)
EXCEPT_THAI = "verified except names in Thai (2 turns)"
NOBODY = OverrideRequest()
OFFICER = OverrideRequest(" a  court\norder ", permitted=True)
CURATOR = OverrideRequest("because", permitted=False)
BLOCKER = Blocker("Legal review is signed", "Not yet signed.", Remedy.SHARING)
REASON_GATES = [policies.EXPORT, policies.ANNOTATE]
SEARCH_AGAIN = (
    "text that has to be searched again, because sessions were deleted or kept terms changed since its scrub "
    "was verified"
)
LOCKED_GATES = [policies.EXPORT_TEST_SPLIT, policies.ANNOTATE_TEST_SPLIT, policies.RESPLIT]


def with_text(facts: DatasetFacts, **text: Any) -> DatasetFacts:
    return facts._replace(text=facts.text._replace(**text))


@pytest.mark.parametrize(
    ("facts", "raw_because", "state"),
    [
        (RAW, "production data without a verified scrub", "raw"),
        (with_text(RAW, scrubbed_to=8), "production data without a verified scrub", "raw"),
        (RAW._replace(attestation=ATTESTED), "", "attested"),
        (SYNTHETIC, "", "clear"),
        (RAW._replace(origin="external"), "", "clear"),
        (with_text(SYNTHETIC, scanned_to=8), "sessions that have not been searched for personal data", "raw"),
        (with_text(SYNTHETIC, found={"EMAIL": 2, "NAME": 5}), "personal data (e-mail addresses: 2)", "raw"),
        (with_text(SYNTHETIC, found={"NAME": 5}), "", "clear"),
        (with_text(SYNTHETIC, missed=2), "2 values that a reviewer marked as missed", "raw"),
        (with_text(SYNTHETIC, last_session=0), "", "empty"),
        (SCRUBBED, "", "scrubbed"),
        (SCRUBBED._replace(status="released"), "", "released"),
        (with_text(SCRUBBED, scanned_to=8), SEARCH_AGAIN, "raw"),
        (with_text(SCRUBBED, found={"NAME": 1}), "", "scrubbed"),
        (with_text(SCRUBBED, found={"HANDLE": 1}), "personal data (user names: 1)", "raw"),
        (with_text(SYNTHETIC, found={"HANDLE": 1, "ADDRESS": 2}), "", "clear"),
        (with_text(SYNTHETIC, found={"HANDLE": 1, "EMAIL": 2}), "personal data (e-mail addresses: 2)", "raw"),
        (with_text(SCRUBBED, found={"CREDENTIAL": 1}), "personal data (credentials: 1)", "raw"),
        (with_text(SCRUBBED, unmeasured={"th": 2}), f"text whose scrub was {EXCEPT_THAI}", "raw"),
        (with_text(SCRUBBED, unmeasured={"th": 2}, turn_count=200), "", "scrubbed"),
        (with_text(SCRUBBED, unmeasured={"th": 2})._replace(origin="external"), "", "scrubbed"),
        (with_text(SCRUBBED, unmeasured={"th": 2})._replace(attestation=ATTESTED), "", "attested"),
    ],
)
def test_text_is_raw_by_what_is_in_it(facts: DatasetFacts, raw_because: str, state: str) -> None:
    assert (facts.raw_because, facts.state) == (raw_because, state)
    assert facts.is_raw is bool(raw_because)
    assert isinstance(policies.decide_gate(policies.EXPORT, facts, NOBODY), Refused) is facts.is_raw


EXEMPT = {"CREDENTIAL": ExemptCount(1, 18)}


@pytest.mark.parametrize(
    ("facts", "description"),
    [
        (SCRUBBED, "Verified: no pattern matches remain in 4 turns."),
        (
            with_text(SCRUBBED, exempt=EXEMPT),
            "Verified except 1 ignored term (18 occurrences): no other pattern matches remain in 4 turns.",
        ),
        (
            with_text(SCRUBBED, unmeasured={"th": 2, "Khmer": 1}, exempt=EXEMPT)._replace(origin="external"),
            "Verified except 1 ignored term (18 occurrences) and names in Thai (2 turns), Khmer "
            "script (1 turn): no other pattern matches remain in 4 turns.",
        ),
        (RAW, "Raw: it contains production data without a verified scrub."),
        (
            SYNTHETIC,
            "Searched by rules, not for names: no personal data found in 4 turns.",
        ),
        (
            RAW._replace(attestation=ATTESTED),
            "olga attested on 4 May 2026 that the text may stay as it is: public data",
        ),
        (EXPIRED, ""),
    ],
)
def test_every_statement_comes_from_the_facts_of_the_gate(facts: DatasetFacts, description: str) -> None:
    assert facts.description == description


def test_what_no_scrub_can_vouch_for_takes_an_attestation() -> None:
    facts = with_text(SCRUBBED, unmeasured={"th": 2})
    verdict = policies.decide_gate(policies.EXPORT, facts, NOBODY)
    assert isinstance(verdict, Refused)
    assert EXCEPT_THAI in verdict.message
    assert "attest that it may stay" in verdict.message
    assert policies.decide_attestation(facts, OFFICER) == Overridden("attest", "a court order")


def test_attesting_takes_raw_text_that_was_searched_and_the_permission() -> None:
    found = with_text(SYNTHETIC, found={"EMAIL": 2})
    assert policies.decide_attestation(found, OFFICER) == Overridden("attest", "a court order")
    assert policies.decide_attestation(RAW, OFFICER) == Overridden("attest", "a court order")
    for facts, request in [
        (found, NOBODY),
        (found, CURATOR),
        (SYNTHETIC, OFFICER),
        (with_text(found, scanned_to=3), OFFICER),
        (EXPIRED, OFFICER),
    ]:
        assert isinstance(policies.decide_attestation(facts, request), Refused)


@pytest.mark.parametrize("gate", REASON_GATES)
def test_a_gate_is_open_for_scrubbed_data_whatever_was_requested(gate: Gate) -> None:
    for request in (NOBODY, OFFICER, CURATOR):
        assert policies.decide_gate(gate, SCRUBBED, request) == Allowed()
        assert policies.decide_gate(gate, SYNTHETIC, request) == Allowed()


@pytest.mark.parametrize(
    ("gate", "facts"), [(g, RAW) for g in REASON_GATES] + [(g, SCRUBBED) for g in LOCKED_GATES]
)
def test_an_override_takes_a_reason_and_the_permission(gate: Gate, facts: DatasetFacts) -> None:
    refused = policies.decide_gate(gate, facts, NOBODY)
    assert isinstance(refused, Refused)
    assert refused.remedy == Remedy.OVERRIDE
    closed = {"raw": "production data without a verified scrub", "advice": "Scrub it first."}
    assert refused.message.startswith(gate.closed.format(name="support", **closed))
    assert policies.decide_gate(gate, facts, OFFICER._replace(reason=" \n")) == refused
    unpermitted = policies.decide_gate(gate, facts, CURATOR)
    assert isinstance(unpermitted, Refused)
    assert gate.action in unpermitted.message
    assert policies.decide_gate(gate, facts, OFFICER) == Overridden(gate.purpose, "a court order")
    too_long = policies.decide_gate(gate, facts, OFFICER._replace(reason="x" * 501))
    assert isinstance(too_long, Refused)
    assert policies.decide_gate(gate, facts, OFFICER._replace(reason="x" * 500)) != too_long


@pytest.mark.parametrize("gate", REASON_GATES + LOCKED_GATES)
@pytest.mark.parametrize(("facts", "why"), [(EXPIRED, "on 4 May 2026"), (DURING_SCRUB, "(job 7)")])
def test_no_reason_helps_for_deleted_contents_or_during_a_scrub(
    gate: Gate, facts: DatasetFacts, why: str
) -> None:
    verdict = policies.decide_gate(gate, facts, OFFICER)
    assert isinstance(verdict, Refused)
    assert why in verdict.message
    assert policies.decide_release(facts, [], OFFICER) == verdict


def test_a_release_needs_turns_and_no_blockers_or_a_reason() -> None:
    decide = policies.decide_release
    assert decide(SCRUBBED, [], NOBODY) == Allowed()
    assert isinstance(decide(SCRUBBED._replace(turn_count=0), [], OFFICER), Refused)
    refused = decide(SCRUBBED, [BLOCKER], NOBODY)
    assert isinstance(refused, Refused)
    assert refused.details == {"unmet": ["Legal review is signed: Not yet signed."]}
    assert "1 blocker. Legal review is signed: not yet signed." in refused.message
    assert isinstance(decide(SCRUBBED, [BLOCKER], CURATOR), Refused)
    assert decide(SCRUBBED, [BLOCKER], OFFICER) == Overridden("release", "a court order")


def test_using_a_dataset_is_refused_once_its_contents_are_deleted() -> None:
    assert policies.decide_use(DURING_SCRUB) == Allowed()
    assert isinstance(policies.decide_use(EXPIRED), Refused)
    assert isinstance(policies.decide_copy(DURING_SCRUB), Refused)
    assert policies.decide_copy(RAW) == Allowed()


def test_deleting_waits_for_holds_and_jobs() -> None:
    assert policies.decide_deletion(RAW) == Allowed()
    held = policies.decide_deletion(RAW._replace(legal_hold=True, hold_reason="case 12"))
    assert isinstance(held, Refused)
    assert "(case 12)" in held.message
    assert isinstance(policies.decide_deletion(EXPIRED), Refused)
    assert policies.decide_idle("support", None, "wait.") == Allowed()
    busy = policies.decide_idle("support", ("Export", 3), "wait.")
    assert busy == Refused("Export is running on support (job 3); wait.", Remedy.WAIT)


@pytest.mark.parametrize(
    ("rule", "facts", "allowed"),
    [
        (policies.decide_job_results, {"overridden": False, "permitted": False}, True),
        (policies.decide_job_results, {"overridden": True, "permitted": True}, True),
        (policies.decide_job_results, {"overridden": True, "permitted": False}, False),
        (policies.decide_job_start, {"starter": "ada", "permitted": True, "visible": True}, True),
        (policies.decide_job_start, {"starter": "ada", "permitted": False, "visible": True}, False),
        (policies.decide_job_start, {"starter": "ada", "permitted": True, "visible": False}, False),
        (policies.decide_stored_release, {"label": "support 1.0.0", "deleted_on": None}, True),
        (policies.decide_stored_release, {"label": "support 1.0.0", "deleted_on": date(2026, 5, 4)}, False),
    ],
)
def test_jobs_and_stored_releases(rule: Any, facts: dict[str, Any], allowed: bool) -> None:
    assert isinstance(rule(**facts), Allowed) is allowed
    assert isinstance(rule(**facts), Refused) is not allowed
