from collections.abc import Iterator

from datasets_app.domain.conversations.records import Finding
from datasets_app.domain.quality.base import Check


class LineOrder(Check):
    """Lines in any order are accepted, but most tools read a file as it stands."""

    code = "W203"
    title = "lines out of order"

    def check_file(self, first_out_of_order: int) -> Iterator[Finding]:
        """``first_out_of_order`` is a line number, 0 for a file in order."""
        if first_out_of_order:
            yield Finding(
                self.code,
                "this line does not follow the turn before it; the file was read in the order of its "
                "sessions and turns (an export writes it so)",
                first_out_of_order,
            )
