"""Reads what Alignmenter's calibration wrote: weights, the metrics of a validation, diagnosed errors."""

from typing import Any, NamedTuple

from datasets_app.domain.untrusted_json import parse_storable

MAX_ERRORS, MAX_START_CHARACTERS = 10_000, 200
KINDS = {
    "weights": "calibrate-persona",
    "validation": "calibrate validate",
    "diagnosis": "calibrate diagnose-errors",
}


class InvalidReport(ValueError):
    """The text is none of the reports; the message says why."""


class ReportedError(NamedTuple):
    """A reply that the calibration gets wrong: ``start`` is how its text begins, as far as the report has it;
    ``label`` what people said."""

    start: str
    label: int
    score: float
    reason: str = ""


class CalibrationReport(NamedTuple):
    """``unlisted`` counts errors that the report doesn't name: a validation names five of each kind."""

    kind: str
    figures: dict[str, float | int]
    errors: list[ReportedError]
    unlisted: int = 0


def read_report(text: str) -> CalibrationReport:
    """Raises :class:`InvalidReport`."""
    try:
        value = parse_storable(text)
    except ValueError:
        raise InvalidReport("it is not valid JSON") from None
    try:
        if "validation_metrics" in value:
            return _read_validation(value)
        if "trait_model" in value:
            return _read_weights(value)
        if "total_errors" in value:
            return _read_diagnosis(value)
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
        raise InvalidReport("it is damaged") from None
    raise InvalidReport(f"it was not written by {', '.join(KINDS.values())}")


def _read_validation(value: dict[str, Any]) -> CalibrationReport:
    analysis, sizes = value["error_analysis"], value["data_split"]
    figures: dict[str, float | int] = {
        name: float(number) for name, number in value["validation_metrics"].items()
    }
    figures |= {"training_rows": int(sizes["train_size"]), "validation_rows": int(sizes["validation_size"])}
    errors = _read_errors(analysis, "score")
    total = int(analysis["num_false_positives"]) + int(analysis["num_false_negatives"])
    return _make_report("validation", figures, errors, total)


def _read_weights(value: dict[str, Any]) -> CalibrationReport:
    model = value["trait_model"]
    weights = [float(weight) for weight in model["token_weights"].values()]
    figures = {"bias": float(model["bias"]), "words_for": sum(weight > 0 for weight in weights)}
    return CalibrationReport(
        "weights", figures | {"words_against": sum(weight < 0 for weight in weights)}, []
    )


def _read_diagnosis(value: dict[str, Any]) -> CalibrationReport:
    errors = _read_errors(value, "calibrated_score")
    total = int(value["total_errors"])
    return _make_report("diagnosis", {"errors": total}, errors, total)


def _read_errors(said: dict[str, Any], score: str) -> list[ReportedError]:
    return [
        ReportedError(
            str(one["text"])[:MAX_START_CHARACTERS],
            label,
            float(one[score]),
            str(one.get("judge_reasoning") or ""),
        )
        for label, name in enumerate(("false_positives", "false_negatives"))
        for one in said[name]
    ]


def _make_report(
    kind: str, figures: dict[str, float | int], errors: list[ReportedError], total: int
) -> CalibrationReport:
    named = errors[:MAX_ERRORS]
    return CalibrationReport(kind, figures, named, max(0, max(total, len(errors)) - len(named)))
