"""A class of personal data is known wherever people choose it, read of it or measure it; see
docs/architecture.md, "A further class of personal data"."""

import re
from pathlib import Path

from datasets_app.domain.pii.canary import values
from datasets_app.domain.pii.detector import KINDS, NETWORK_KINDS
from tests.domain.test_rules import ONE_OF_EACH

DOCUMENT = Path(__file__).parents[2] / "docs" / "scrubbing.md"


def test_every_class_has_all_that_a_class_needs() -> None:
    documented = set(re.findall(r"^\| .*\| `\[([A-Z_]+)\]` \|", DOCUMENT.read_text("utf-8"), re.MULTILINE))
    makers = {*values._MAKERS, *values._MAKERS_BY_LANGUAGE}
    needed = {
        "values to plant: domain/pii/canary/values.py": makers,
        "an example that its rule finds: ONE_OF_EACH of tests/domain/test_rules.py": {
            *ONE_OF_EACH,
            *NETWORK_KINDS,
        },
        "a row of the table in docs/scrubbing.md": documented,
    }
    missing = [
        f"{kind} lacks {what}" for what, having in needed.items() for kind in KINDS if kind not in having
    ]
    assert not missing, "\n".join(missing)
