"""The choices of one scrub: what to replace, and how."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple, Self

from datasets_app.domain.pii.detector import (
    CLASSES,
    KINDS,
    NAME,
    OPTIONAL_KINDS,
    ORDER_NUMBER,
    PRECISION,
    PREFERENCES,
    RECALL,
)

PLACEHOLDER_STYLES = ("plain", "numbered")
# Every class that a policy may name.
ALL_KINDS = (*KINDS, *OPTIONAL_KINDS)
# A value that stands under a key such as user_id, of no class of its own.
ID = "ID"
# For a value that is personal and of no class, as a person says.
OTHER = "OTHER"
MAX_FUZZ_SECONDS = 10 * 366 * 86_400

_LABEL = re.compile(r"[A-Z][A-Z0-9_]{0,39}")
KIND_DESCRIPTIONS = {item.kind: item.nouns for item in CLASSES} | {
    ORDER_NUMBER: "order, parcel and ticket numbers"
}
# What a class is called on a command line besides its own name.
_KIND_ALIASES = {"HOSTNAME": "HOST"}


class PolicyError(ValueError):
    """The problem with the settings, as a sentence for their author."""


class MissedMark(NamedTuple):
    """A value that a person marked as missed, told only by its keyed digest.

    ``length`` is that of the value's words joined by single spaces.
    """

    kind: str
    digest: str
    words: int
    length: int


class Recognizer(NamedTuple):
    """A pattern of a team's own recognizer: matches of ``regex`` are values of ``kind`` from a score of
    ``threshold``. Words of ``context`` before a match raise its score (recognizers.py)."""

    kind: str
    regex: str
    score: float
    threshold: float = 0.0
    context: tuple[str, ...] = ()


@dataclass(frozen=True)
class Policy:
    """The choices of one scrub. Nothing in it is secret, and no value of a person stands in it.

    Terms in ``allow`` stay whatever they look like, those in ``allow_names`` unless a pattern class matches
    them. ``exempt_marks`` are keys of marks whose terms a dataset's scrub adds to ``allow``: a term that a
    pattern class matches is not written into a job's row. ``prefer`` decides when a word may or
    may not be a name: recall replaces it, precision keeps it.
    """

    kinds: tuple[str, ...] = KINDS
    patterns: tuple[tuple[str, str], ...] = ()
    recognizers: tuple[Recognizer, ...] = ()
    placeholders: str = "plain"
    prefer: str = RECALL
    allow: tuple[str, ...] = ()
    allow_names: tuple[str, ...] = ()
    exempt_marks: tuple[int, ...] = ()
    missed: tuple[MissedMark, ...] = ()
    name_models: tuple[str, ...] = ("builtin",)
    hash_session_ids: bool = False
    fuzz_seconds: int = 0
    drop_timestamps: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        for kind in self.kinds:
            if kind not in ALL_KINDS:
                raise PolicyError(
                    f"There is no class {kind!r}; choose among {', '.join(list_class_names())}."
                )
        for label, _ in self.patterns:
            check_label(label)
        if self.placeholders not in PLACEHOLDER_STYLES:
            raise PolicyError(f"Placeholders are plain or numbered, not {self.placeholders!r}.")
        if self.prefer not in PREFERENCES:
            raise PolicyError(f"Prefer recall or precision, not {self.prefer!r}.")
        if not 0 <= self.fuzz_seconds <= MAX_FUZZ_SECONDS:
            raise PolicyError(f"Timestamps can be moved by 0 to {MAX_FUZZ_SECONDS:,} seconds.")
        if self.fuzz_seconds and self.drop_timestamps:
            raise PolicyError("Timestamps are either moved or dropped; choose one of the two.")

    @property
    def labels(self) -> tuple[str, ...]:
        """Every word that may stand in a placeholder of this run."""
        return (*KINDS, *OPTIONAL_KINDS, ID, *self.custom_labels)

    @property
    def custom_labels(self) -> tuple[str, ...]:
        """The labels of patterns, recognizers and deny-lists that aren't classes of ours."""
        labels = [label for label, _ in self.patterns]
        labels += [item.kind for item in self.recognizers]
        labels += [mark.kind for mark in self.missed]
        return tuple(label for label in dict.fromkeys(labels) if label not in (*KINDS, ID))

    def as_json(self) -> dict[str, Any]:
        """For a job's row."""
        return asdict(self) | {
            "missed": [mark._asdict() for mark in self.missed],
            "recognizers": [item._asdict() for item in self.recognizers],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        known = {item.name for item in fields(cls)}
        values: dict[str, Any] = {
            key: tuple(item) if isinstance(item, list) else item for key, item in value.items()
        }
        values = {key: item for key, item in values.items() if key in known}
        patterns = [(label, regex) for label, regex in values.get("patterns", ())]
        recognizers = [
            Recognizer(**{**item, "context": tuple(item["context"])})
            for item in values.get("recognizers", ())
        ]
        # A label that became a class after the policy was stored.
        recognizers += [Recognizer(label, regex, 1.0) for label, regex in patterns if label in KINDS]
        values["recognizers"] = tuple(recognizers)
        values["patterns"] = tuple(item for item in patterns if item[0] not in KINDS)
        values["missed"] = tuple(MissedMark(**mark) for mark in values.get("missed", ()))
        return cls(**values)

    def with_marks(
        self, allow_names: Iterable[str], exempt_marks: Iterable[int], missed: Iterable[MissedMark]
    ) -> Self:
        """This policy, and what people have marked since."""
        return replace(
            self,
            allow_names=tuple(dict.fromkeys((*self.allow_names, *allow_names))),
            exempt_marks=tuple(exempt_marks),
            missed=tuple(dict.fromkeys((*self.missed, *missed))),
        )

    def with_exempt_terms(self, terms: Iterable[str]) -> Self:
        """The policy of a dataset's scrub: only ``terms``, which were approved, stay whatever they look
        like."""
        return replace(self, allow=tuple(terms), allow_names=(*self.allow, *self.allow_names))

    def describe(self) -> list[str]:
        """What a run under this policy does, for a metadata file's ``anonymization``."""
        kinds = [KIND_DESCRIPTIONS[kind] for kind in ALL_KINDS if kind in self.kinds]
        kinds += [f"values of the pattern {label}" for label in self.custom_labels if label != OTHER]
        done = [f"{', '.join(kinds)} replaced by placeholders"] if kinds else []
        if NAME in self.kinds and self.prefer == PRECISION:
            done.append("words that may or may not be names kept")
        if self.hash_session_ids:
            done.append("session ids replaced by keyed SHA-256 hashes")
        if self.fuzz_seconds:
            done.append(f"timestamps moved by up to {self.fuzz_seconds:,} seconds, one offset a session")
        if self.drop_timestamps:
            done.append("timestamps removed")
        return done


def list_class_names() -> list[str]:
    """The classes as a command line names them."""
    return [kind.lower() for kind in ALL_KINDS]


def parse_kinds(text: str) -> tuple[str, ...]:
    """``email|phone`` (or with commas) → classes. Raises :class:`PolicyError` for what is none."""
    names = [name.strip() for name in re.split(r"[|,]", text) if name.strip()]
    if not names:
        raise PolicyError(f"Name at least one class: {', '.join(list_class_names())}.")
    chosen = {_KIND_ALIASES.get(kind, kind) for kind in (name.upper().replace("-", "_") for name in names)}
    for name in chosen.difference(ALL_KINDS):
        raise PolicyError(
            f"There is no class {name.lower()!r}; choose among {', '.join(list_class_names())}."
        )
    return tuple(kind for kind in ALL_KINDS if kind in chosen)


def check_label(label: str) -> None:
    if not _LABEL.fullmatch(label):
        raise PolicyError(
            f"{label!r} can't be the label of a pattern: capital letters, digits and underscores, "
            "beginning with a letter, at most 40."
        )
    if label in (*KINDS, ID):
        raise PolicyError(f"{label} is a class already; give the pattern another label.")
