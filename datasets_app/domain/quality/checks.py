"""Every check there is, by what it reads. docs/checks.md describes them all.

A new check is a class of this package, an entry in a tuple below and a section in docs/checks.md.
"""

from datasets_app.domain.personas.persona import PERSONA_CODES
from datasets_app.domain.quality.base import Check
from datasets_app.domain.quality.e201_turn_numbers import TurnNumbers
from datasets_app.domain.quality.e202_repeated_turns import RepeatedTurns
from datasets_app.domain.quality.e204_personas_in_session import PersonasInSession
from datasets_app.domain.quality.e206_timestamps import TimestampOrder
from datasets_app.domain.quality.e211_cases import Cases
from datasets_app.domain.quality.e212_context import Context
from datasets_app.domain.quality.e301_empty_text import EmptyText
from datasets_app.domain.quality.e504_mixed_personas import MixedPersonas
from datasets_app.domain.quality.label_balance import LabelBalance, LabelCount, LabelImbalance
from datasets_app.domain.quality.metadata_checks import (
    ContradictoryQuality,
    MissingLicense,
    MissingProvenance,
)
from datasets_app.domain.quality.personal_data import PERSONAL_DATA_CHECKS
from datasets_app.domain.quality.w203_line_order import LineOrder
from datasets_app.domain.quality.w205_role_order import RoleOrder
from datasets_app.domain.quality.w213_rubrics import Rubrics
from datasets_app.domain.quality.w214_families import Families
from datasets_app.domain.quality.w302_repeated_text import RepeatedText
from datasets_app.domain.quality.w406_names import NamesOfPeople

# Of findings that are made while reading, before any check: code → title.
READER_CODES = {
    "E100": "file can't be read",
    "E101": "not a line of JSON",
    "E102": "required field missing or wrong",
    "E103": "role is neither user nor assistant",
    "E104": "tags are not strings",
    "E105": "timestamp is not ISO 8601",
    "E106": "metadata is not an object",
    "E107": "key repeated within an object",
    "E108": "characters that can't be stored",
    "E109": "line too long",
    "E110": "line holds no conversation",
}
# Of an import into a dataset that has sessions already.
IMPORT_CODES = {"E207": "session already in the dataset", "E208": "session was erased"}

# An import refuses what these report: rows would collide, or would not form one conversation.
INTEGRITY_CHECKS: tuple[type[Check], ...] = (TurnNumbers, RepeatedTurns, PersonasInSession)
# For the turns of a conversation file or dataset.
TURN_CHECKS: tuple[type[Check], ...] = (
    *INTEGRITY_CHECKS,
    RoleOrder,
    TimestampOrder,
    Cases,
    Context,
    Rubrics,
    Families,
    EmptyText,
    RepeatedText,
    *PERSONAL_DATA_CHECKS,
)
# For the labels of an annotation file.
LABEL_CHECKS: tuple[type[Check], ...] = (
    EmptyText,
    LabelBalance,
    LabelImbalance,
    LabelCount,
    MixedPersonas,
    *PERSONAL_DATA_CHECKS,
)
# For the metadata of a file or dataset.
METADATA_CHECKS: tuple[type[Check], ...] = (MissingLicense, MissingProvenance, ContradictoryQuality)

# The last two run apart from the others: NamesOfPeople on request, as its model is slow; LineOrder on files.
_CHECKS: tuple[type[Check], ...] = (*TURN_CHECKS, *LABEL_CHECKS, *METADATA_CHECKS, NamesOfPeople, LineOrder)
# Every code → its title.
CODE_TITLES: dict[str, str] = (
    READER_CODES | IMPORT_CODES | PERSONA_CODES | {check.code: check.title for check in _CHECKS}
)
