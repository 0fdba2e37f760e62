"""Every check there is, by what it reads. docs/checks.md describes them all.

A new check is a module in this package, an entry in a tuple below and a section in docs/checks.md.
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
from datasets_app.domain.quality.e502_label_imbalance import LabelImbalance
from datasets_app.domain.quality.e503_label_count import LabelCount
from datasets_app.domain.quality.e504_mixed_personas import MixedPersonas
from datasets_app.domain.quality.personal_data_checks import PERSONAL_DATA_CHECKS
from datasets_app.domain.quality.reader_codes import IMPORT_CODES, READER_CODES
from datasets_app.domain.quality.w203_line_order import LineOrder
from datasets_app.domain.quality.w205_role_order import RoleOrder
from datasets_app.domain.quality.w213_rubrics import Rubrics
from datasets_app.domain.quality.w214_families import Families
from datasets_app.domain.quality.w302_repeated_text import RepeatedText
from datasets_app.domain.quality.w406_names import NamesOfPeople
from datasets_app.domain.quality.w501_label_balance import LabelBalance
from datasets_app.domain.quality.w601_license import MissingLicense
from datasets_app.domain.quality.w602_provenance import MissingProvenance
from datasets_app.domain.quality.w603_quality import ContradictoryQuality

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

# Run apart from the others: NamesOfPeople on request, as its model is slow; LineOrder on files only.
SEPARATE_CHECKS: tuple[type[Check], ...] = (NamesOfPeople, LineOrder)

# Every code → its title.
CODE_TITLES: dict[str, str] = (
    READER_CODES
    | IMPORT_CODES
    | PERSONA_CODES
    | {check.code: check.title for check in (*TURN_CHECKS, *LABEL_CHECKS, *METADATA_CHECKS, *SEPARATE_CHECKS)}
)
