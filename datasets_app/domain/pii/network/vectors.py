"""What frequent words mean: a vector for each, from a language model that has read a hundred languages.

A word takes eight bytes, each of which names a part of its vector (product quantization). The words are those
of the lexicon that are common, and no list of names (``scripts/network/make_vectors.py`` makes the file;
source and license: ``docs/network.md``).
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from datasets_app.domain.pii.network.lexicon import KNOWN_LEVEL, find_places, list_hashes

VECTORS_PATH = Path(__file__).parent / "vectors.npz"


class Vectors(NamedTuple):
    """``hashes`` [words] of the words, sorted; ``codes`` [words + 1, parts] of bytes, the first of which are
    of no word; ``parts`` [parts, 256, size]."""

    hashes: Any
    codes: Any
    parts: Any

    def find(self, words: Sequence[str]) -> list[int]:
        """The row of each folded word; 0 for one that has no vector."""
        places, is_known = find_places(self.hashes, words)
        return np.where(is_known, places + 1, 0).tolist()  # type: ignore[no-any-return]

    def read(self, rows: Any) -> Any:
        """The vectors of these rows [rows, size]; zeros for no word."""
        found = self.parts[np.arange(len(self.parts)), self.codes[rows]].reshape(len(rows), -1)
        return found * (rows > 0)[:, None]


@cache
def load_vectors(path: Path = VECTORS_PATH) -> Vectors:
    with np.load(path) as file:
        codes = file["codes"]
        return Vectors(
            list_hashes(KNOWN_LEVEL),
            np.concatenate([np.zeros_like(codes[:1]), codes]),
            file["parts"].astype(np.float32),
        )
