"""Reports of scrubs as JSON: counts and positions, never a value."""

from collections import Counter
from typing import Any

from datasets_app.domain.pii import session_ids
from datasets_app.domain.pii.batches import MAX_PLACES_LISTED, ScrubSetup, build_place_object, get_top_field
from datasets_app.domain.pii.network.languages import describe_languages
from datasets_app.domain.pii.policy import Policy
from datasets_app.scrubbing.sanitize_file import SanitizeResult


def policy_to_json(policy: Policy, key_fingerprint: str) -> dict[str, Any]:
    """The policy without what may be personal: no expressions, and only the number of allowed terms."""
    return {
        "classes": list(policy.kinds),
        "patterns": list(policy.custom_labels),
        "placeholders": policy.placeholders,
        "prefer": policy.prefer,
        "allowed_terms": len(policy.allow) + len(policy.allow_names) + len(policy.exempt_marks),
        "name_models": list(policy.name_models),
        "hash_session_ids": policy.hash_session_ids,
        "key_fingerprint": key_fingerprint,
        "fuzz_timestamps": policy.fuzz_seconds,
        "drop_timestamps": policy.drop_timestamps,
    }


def build_file_report(result: SanitizeResult, setup: ScrubSetup, **about: Any) -> dict[str, Any]:
    """``about`` has the first entries, such as input and output."""
    verification = None
    if result.verified_turns is not None:
        verification = {
            "passed": not result.remaining,
            "turns": result.verified_turns,
            "remaining": dict(sorted(result.remaining.items())),
            "places": [build_place_object(place) for place in result.remaining_places],
            "languages": dict(sorted(result.languages.items())),
            "unmeasured": dict(sorted(result.unmeasured.items())),
            "names": describe_languages(result.languages, setup.policy.prefer),
        }
    return {
        **about,
        "policy": policy_to_json(setup.policy, session_ids.fingerprint_key(setup.key)),
        "sessions": _count_summary(result.sessions, result.found_sessions, result.changed_sessions),
        "turns": _count_summary(result.turns, result.found_turns, result.changed_turns),
        "found": result.total,
        "found_by_class": dict(sorted(result.kinds.items())),
        "found_by_field": dict(sorted(result.fields.items())),
        "places": [build_place_object(place) for place in result.places],
        "verification": verification,
        "sha256": result.sha256 if not result.remaining else None,
    }


def _count_summary(total: int, found: int, changed: int) -> dict[str, int]:
    return {"total": total, "with_findings": found, "changed": changed}


def build_dataset_report(scrub: Any) -> dict[str, Any]:
    """The report of a :class:`ScrubRun`. Positions refer to the raw text for a preview, else to the new text.
    Sessions are given by primary key, since an id may be personal."""
    fields: Counter[str] = Counter()
    for field in scrub.findings.values_list("field", flat=True).iterator():
        fields[get_top_field(field)] += 1
    policy = Policy.from_json(scrub.policy)
    verification = None
    if scrub.verification or scrub.error:
        stored = scrub.verification or {}
        names = describe_languages(stored.get("languages"), policy.prefer)
        verification = {"passed": scrub.verified_at is not None, **stored, "names": names}
    return {
        "dataset": scrub.dataset.name,
        "dry_run": scrub.dry_run,
        "policy": policy_to_json(policy, scrub.key_fingerprint),
        "sessions": {"total": scrub.session_count},
        "turns": {"total": scrub.turn_count, "changed": scrub.changed_turns},
        "found": scrub.finding_count,
        "found_by_class": scrub.totals,
        "found_by_field": dict(sorted(fields.items())),
        "places": [
            {
                "session": finding.session_id,
                "turn_index": finding.turn_index,
                "field": finding.field,
                "class": finding.kind,
                "column": finding.start + 1,
                "length": finding.length,
                "score": finding.score,
            }
            for finding in scrub.findings.order_by("id")[:MAX_PLACES_LISTED]
        ],
        "verification": verification,
    }
