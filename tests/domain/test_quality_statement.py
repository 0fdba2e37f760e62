"""What a file states of judges and rates is read from anywhere, and figures that can't be true are found."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from msgspec.structs import replace

from datasets_app.domain.packages.quality_statement import (
    QualityStatement,
    StatedAlternative,
    StatedCertificate,
    StatedEstimate,
    StatedRate,
    describe_certificate,
    describe_estimate,
    find_contradictions,
    read_statement,
)
from datasets_app.domain.quality.files import FileChecker

CERTIFICATE = StatedCertificate(
    "brand@2", "on_brand", "test", "2026-11-28", True, 0.8,
    StatedRate(0.95, 0.9, 60), StatedRate(0.9, 0.82, 50), 115, 5,
    alternative=StatedAlternative(0.15, 4, 1, 0.83, 0.75, True),
)  # fmt: skip
ESTIMATE = StatedEstimate("autumn", "on_brand", "On-brand", 0.75, 0.6, 0.85, 40, 120, ("brand@2",))
STATEMENT = QualityStatement((CERTIFICATE,), (ESTIMATE,), 3)


def test_what_is_written_is_read_and_said() -> None:
    assert read_statement(STATEMENT.as_json()) == STATEMENT
    assert not list(find_contradictions(STATEMENT))
    assert not QualityStatement()
    assert describe_certificate(replace(CERTIFICATE, changed=("the persona",))) == [
        "brand@2 is certified for on_brand.",
        "True-positive rate 95.0 %, at least 90.0 %, of 60 replies.",
        "True-negative rate 90.0 %, at least 82.0 %, of 50 replies.",
        "5 of 115 replies not judged.",
        "It may replace an annotator: as good as one or better on 83.0 % of replies, not worse by 15 points "
        "than 3 of 4 annotators.",
        "It holds no longer: the persona changed since.",
    ]
    failed = describe_certificate(replace(CERTIFICATE, certified=False, changed=("the persona", "a member")))
    assert failed[-1] == "Since then the persona and a member changed."
    assert describe_estimate(ESTIMATE) == (
        "on_brand, On-brand: 75.0 % of replies, between 60.0 % and 85.0 % in 19 of 20 such samples, "
        "from 40 labeled replies of 120, helped by brand@2."
    )


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"true_positive": StatedRate(0.85, 0.9, 60)}, "a bound is above its rate"),
        ({"true_negative": StatedRate(0.9, 0.7, 50)}, "certified, although a bound is below 80.0 %"),
        ({"not_judged": 116}, "more replies not judged"),
    ],
)
def test_figures_that_contradict_each_other_are_named(changed: dict[str, Any], problem: str) -> None:
    [found] = find_contradictions(QualityStatement((replace(CERTIFICATE, **changed),)))
    assert problem in found
    assert list(find_contradictions(QualityStatement((), (replace(ESTIMATE, low=0.8),))))
    assert list(find_contradictions(QualityStatement((), (replace(ESTIMATE, labels=121),))))


@pytest.mark.parametrize(
    "broken",
    [
        None,
        [],
        {"certificates": [], "estimates": {}},
        {"certificates": [{}], "estimates": [], "left_out": 0},
        STATEMENT.as_json() | {"certificates": [CERTIFICATE.as_json() | {"threshold": "0.8"}]},
        STATEMENT.as_json() | {"certificates": [CERTIFICATE.as_json() | {"threshold": None}]},
        STATEMENT.as_json() | {"certificates": [CERTIFICATE.as_json() | {"not_judged": None}]},
        STATEMENT.as_json() | {"estimates": [msgspec.to_builtins(ESTIMATE) | {"labels": None}]},
        STATEMENT.as_json() | {"certificates": [CERTIFICATE.as_json() | {"certified": 1}]},
        STATEMENT.as_json() | {"certificates": [CERTIFICATE.as_json() | {"true_positive": 5}]},
        STATEMENT.as_json() | {"certificates": [CERTIFICATE.as_json() | {"alternative": {"epsilon": 1}}]},
        STATEMENT.as_json() | {"estimates": [msgspec.to_builtins(ESTIMATE) | {"answer": ["x"]}]},
        STATEMENT.as_json() | {"left_out": "many"},
    ],
)
def test_anything_else_is_refused_and_a_finding(broken: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="statement|expected|certified|invalid"):
        read_statement(broken)
    data = tmp_path / "talks.jsonl"
    data.write_text('{"session_id": "a", "turn_index": 1, "role": "user", "text": "Hi"}\n')
    data.with_name("talks.meta.yaml").write_text(yaml.safe_dump({"quality": broken}))
    codes = [finding.code for finding in FileChecker(data).findings()]
    assert codes.count("W603") == (broken is not None)
