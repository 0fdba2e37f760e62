"""The progress of an import, which reads its files several times."""

from datasets_app.core.progress import ProgressCallback


class ByteProgress:
    """Bytes of three passes over all files as one count."""

    def __init__(self, report: ProgressCallback, bytes_total: int) -> None:
        self._report, self._total = report, 3 * bytes_total
        self._completed = self._position = 0

    def start_pass(self) -> None:
        self._completed += self._position
        self._position = 0

    def step(self, position: int) -> None:
        self._position = position
        self._report(min(self._completed + position, self._total), self._total)
