"""Trains the network for personal data and writes its weights into the package; see docs/network.md.

    python -m scripts.train_network --names ../shared/data/names --english ../shared/pii/train \\
        --interface wheels

``--names`` has sentences of newspapers and the web by language (``de.jsonl.gz``) and chat lines
(``chat/de.txt``); ``--english`` the mixed corpus and the pools of names and places of the English name model;
``--interface`` packages with translations, in whose texts nobody is named. The chat lines in
``scripts/network/texts`` are always read. The same input gives the same weights. With ``--held-out FILE`` one
line in 25 is left out of training and written there, as rows to score.
"""

import argparse
import gzip
import pickle
import random
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from datasets_app.domain.pii.network.features import FeatureReader
from datasets_app.domain.pii.network.lexicon import COMMON
from datasets_app.domain.pii.network.runtime import LANGUAGES, WEIGHTS_PATH
from scripts.marked_texts.examples import make_rows
from scripts.name_model.fillers import Fillers
from scripts.name_model.templates import generate_sentences
from scripts.network import rows
from scripts.network.interface import make_row, read_interface
from scripts.network.training import DILATIONS, encode, make_parameters, train

TEXTS = Path(__file__).parent / "network" / "texts"
_NEWS_A_LANGUAGE, _ENGLISH_ROWS, _CUSTOMER_ROWS, _SENTENCES = 1800, 72_000, 24_000, 20_000
_INTERFACE = {True: 2900, False: 900}  # texts of programs a language, by whether it has chat lines
_VARIANTS = 11  # of the marked texts
# How often a chat line is in an epoch: one with invented values, with slots for names, without slots.
_INVENTED, _FILLINGS, _WRITTEN_OUT = 40, 4, 3
_INVENTED_SLOT = re.compile(r"\{(user|code|address|line|postal|zip|birth|date|n|d|base|town)\}")
_HIDDEN_SHARE = 30  # percent of the words that a reader doesn't know
_CUT_SHARE, _MASKED_SHARE, _VARIED_SHARE = 0.2, 0.2, 0.3
_READERS = 2
_HELD_OUT = 25

ChatLine = tuple[str, str]


def read_fixed(
    arguments: argparse.Namespace, chatted: set[str], names: rows.Names, choose: random.Random
) -> list[rows.Row]:
    """The rows that are the same in every epoch: a share of those that there are. ``chatted``: the languages
    that have chat lines."""
    found: list[rows.Row] = []
    for path in sorted(arguments.names.glob("*.jsonl.gz")):
        found += rows.read_news(path, choose, round(_NEWS_A_LANGUAGE * arguments.share), names)
    found += read_english(arguments, choose)
    for language, texts in read_interface(arguments.interface).items():
        most = min(len(texts), round(_INTERFACE[language in chatted] * arguments.share))
        found += [make_row(text, language, names, choose) for text in choose.sample(texts, most)]
    return found + read_sentences(arguments)


def read_english(arguments: argparse.Namespace, choose: random.Random) -> list[rows.Row]:
    """The marked English corpora, and the marked texts, of which a few are in other languages."""
    english, customer_rows, variants = (
        round(count * arguments.share) for count in (_ENGLISH_ROWS, _CUSTOMER_ROWS, _VARIANTS)
    )
    found = rows.read_marked(
        _draw_lines(arguments.english / "train.jsonl.gz", english, choose), rows.REST_OF_ENTITIES
    )
    customers = arguments.names.parent / "multidogo_names_train.jsonl"
    found = [*found, *rows.read_marked(_draw_lines(customers, customer_rows, choose), rows.REST_OF_NAMES)]
    return [*found, *rows.read_examples(make_rows(random.Random(1), variants))]


def read_sentences(arguments: argparse.Namespace) -> list[rows.Row]:
    """English sentences from the templates of the name model."""
    count = round(_SENTENCES * arguments.share)
    fillers = Fillers(arguments.english / "names_pool.json.gz", arguments.english / "places_pool.json.gz", 3)
    return list(rows.read_sentences(generate_sentences(fillers, count, count)))


def _draw_lines(path: Path, most: int, choose: random.Random) -> list[str]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        lines = file.readlines()
    return choose.sample(lines, min(most, len(lines)))


def read_lines(folders: Sequence[Path]) -> list[ChatLine]:
    """The chat lines of each folder with their language: ``de.txt``, ``de-2.txt``."""
    return [
        (line, path.stem[:2])
        for folder in folders
        for path in sorted(folder.glob("*.txt"))
        for line in rows.read_chat_lines(path)
    ]


def is_held_out(line: ChatLine) -> bool:
    return zlib.crc32(line[0].encode()) % _HELD_OUT == 0


def make_epoch(
    epoch: int, fixed: list[rows.Row], lines: list[ChatLine], names: rows.Names, share: float
) -> list[rows.Row]:
    """The rows of an epoch: lines with other names, several joined, in other letter case."""
    choose, vocabulary = random.Random(100 + epoch), rows.Vocabulary()
    by_language: dict[str, list[rows.Row]] = {}
    for line, language in lines:
        times = _INVENTED if _has_invented(line) else _FILLINGS if "{" in line else _WRITTEN_OUT
        by_language.setdefault(language, []).extend(
            rows.render_chat_line(line, language, names, choose) for _ in range(max(1, round(times * share)))
        )
    found = list(fixed)
    for some in by_language.values():
        found += some
        found += [
            rows.join_rows(choose.sample(some, choose.choice((2, 2, 3))), choose)
            for _ in range(len(some) // 4)
        ]
    found = [rows.cut_beginning(row, choose) if choose.random() < _CUT_SHARE else row for row in found]
    found = [
        vocabulary.vary(row, choose) if row.words and choose.random() < _VARIED_SHARE else row
        for row in found
    ]
    found = [rows.mask_values(row, choose) if choose.random() < _MASKED_SHARE else row for row in found]
    return [rows.restyle(row, choose) for row in found]


def _has_invented(line: str) -> bool:
    return _INVENTED_SLOT.search(line) is not None


def encode_epochs(
    fixed: list[rows.Row], lines: list[ChatLine], names: rows.Names, most: int, share: float, seed: int
) -> Iterator[dict[int, Any]]:
    """Epochs as arrays; after ``most`` different ones the last comes again."""
    encoded: dict[int, Any] = {}
    for epoch in range(seed * most, seed * most + most):
        readers = [FeatureReader(_Hiding(f"{epoch}{number}"), 10**7) for number in range(_READERS)]
        encoded = encode(make_epoch(epoch, fixed, lines, names, share), readers, epoch)
        yield encoded
    while True:
        yield encoded


class _Hiding:
    """Shows some words as if no list of names had them."""

    def __init__(self, salt: str) -> None:
        self._salt = salt

    def __call__(self, word: str, code: int) -> int:
        is_hidden = zlib.crc32(f"{self._salt}{word}".encode("utf-8", "surrogatepass")) % 100 < _HIDDEN_SHARE
        return code - code % COMMON if is_hidden else code


def read_parameters(path: Path) -> dict[str, Any]:
    """Those of packaged weights, to go on with; what the network has gained since, a language for example,
    begins at zero."""
    with np.load(path) as file:
        layers = {name: file[name] for name in file.files}
    known = [LANGUAGES.index(code) for code in layers.pop("languages", np.array(LANGUAGES)).tolist()]
    del layers["dilations"]
    layers["table"] = layers["table"] * layers.pop("scale")[:, None]
    found = {name: np.zeros(values.shape, np.float32) for name, values in make_parameters(1).items()}
    for name, values in layers.items():
        columns = known if name in ("language", "language_bias") else slice(None)
        part = found[name][: len(values)] if values.ndim > 1 else found[name]
        part[..., columns] = values
    return {name: jnp.asarray(values) for name, values in found.items()}


def average(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The mean of networks that were trained on from the same one."""
    return {name: sum(run[name] for run in runs) / len(runs) for name in runs[0]}


def write_weights(parameters: dict[str, Any], path: Path) -> None:
    """The table in bytes with a scale for each row, layers in half precision."""
    table = np.asarray(parameters.pop("table"))
    scale = np.abs(table).max(axis=1) / 127 + 1e-12
    layers = {name: np.asarray(values).astype(np.float16) for name, values in sorted(parameters.items())}
    np.savez(
        path,
        table=np.round(table / scale[:, None]).astype(np.int8),
        scale=scale.astype(np.float32),
        dilations=np.array(DILATIONS),
        languages=np.array(LANGUAGES),
        **layers,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--names", type=Path, required=True)
    parser.add_argument("--english", type=Path, required=True)
    parser.add_argument("--interface", type=Path, required=True, help="a folder of wheels with translations")
    parser.add_argument("--held-out", type=Path)
    parser.add_argument("--steps", type=int, default=8500)
    parser.add_argument("--share", type=float, default=1, help="of the rows, for a few more steps")
    parser.add_argument("--epochs", type=int, default=4, help="with different names")
    parser.add_argument("--rate", type=float, default=0.003)
    parser.add_argument("--start", type=Path, help="weights to go on with")
    parser.add_argument(
        "--runs", type=int, default=1, help="whose mean is written: it learns less by heart than one of them"
    )
    parser.add_argument("--out", type=Path, default=WEIGHTS_PATH)
    arguments = parser.parse_args()
    lines = read_lines([arguments.names / "chat", TEXTS])
    if arguments.held_out:
        held_out = [line for line in lines if is_held_out(line)]
        lines = [line for line in lines if not is_held_out(line)]
        others = rows.Names(random.Random(98))
        arguments.held_out.write_bytes(
            pickle.dumps([rows.render_chat_line(*line, others) for line in held_out])
        )
    runs = [train_once(arguments, lines, seed) for seed in range(arguments.runs)]
    write_weights(average(runs), arguments.out)


def train_once(arguments: argparse.Namespace, lines: list[ChatLine], seed: int) -> dict[str, Any]:
    """The parameters after a training on other rows, with other names, for each seed."""
    choose = random.Random(7 + seed)
    names = rows.Names(choose)
    fixed = read_fixed(arguments, {language for _line, language in lines}, names, choose)
    print(f"{len(fixed)} rows, {len(lines)} chat lines", flush=True)
    epochs = encode_epochs(fixed, lines, names, arguments.epochs, arguments.share, seed)
    start = read_parameters(arguments.start) if arguments.start else None
    return train(epochs, arguments.steps, arguments.rate, 1 + seed, start)


if __name__ == "__main__":
    main()
