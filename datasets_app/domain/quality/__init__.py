"""The checks: each one rule, one code, one file. docs/checks.md describes them all.

A new check is a file here, an entry in a tuple below and a section in docs/checks.md.
"""

from collections.abc import Iterable, Iterator

from datasets_app.domain.conversations.records import Finding, LabelRecord, LineError, TurnRecord
from datasets_app.domain.metadata.metadata import DatasetMetadata
from datasets_app.domain.personas.persona import PERSONA_CODES
from datasets_app.domain.quality import runner
from datasets_app.domain.quality.base import Check
from datasets_app.domain.quality.e201_turn_numbers import TurnNumbers
from datasets_app.domain.quality.e202_repeated_turns import RepeatedTurns
from datasets_app.domain.quality.e204_personas_in_session import PersonasInSession
from datasets_app.domain.quality.e206_timestamps import TimestampOrder
from datasets_app.domain.quality.e301_empty_text import EmptyText
from datasets_app.domain.quality.e401_email_addresses import EmailAddresses
from datasets_app.domain.quality.e402_phone_numbers import PhoneNumbers
from datasets_app.domain.quality.e403_social_security_numbers import SocialSecurityNumbers
from datasets_app.domain.quality.e404_credit_cards import CreditCards
from datasets_app.domain.quality.e405_ip_addresses import IpAddresses
from datasets_app.domain.quality.e407_credentials import Credentials
from datasets_app.domain.quality.e408_paths import FileSystemPaths
from datasets_app.domain.quality.e409_hosts import InternalHosts
from datasets_app.domain.quality.e502_label_imbalance import LabelImbalance
from datasets_app.domain.quality.e503_label_count import LabelCount
from datasets_app.domain.quality.e504_mixed_personas import MixedPersonas
from datasets_app.domain.quality.reader_codes import IMPORT_CODES, READER_CODES
from datasets_app.domain.quality.w203_line_order import LineOrder
from datasets_app.domain.quality.w205_role_order import RoleOrder
from datasets_app.domain.quality.w302_repeated_text import RepeatedText
from datasets_app.domain.quality.w406_names import NamesOfPeople
from datasets_app.domain.quality.w501_label_balance import LabelBalance
from datasets_app.domain.quality.w601_license import MissingLicense
from datasets_app.domain.quality.w602_provenance import MissingProvenance

# What an import refuses: the rows could not be told apart, or would not be one conversation.
INTEGRITY_CHECKS: tuple[type[Check], ...] = (TurnNumbers, RepeatedTurns, PersonasInSession)
PERSONAL_DATA_CHECKS: tuple[type[Check], ...] = (
    EmailAddresses,
    PhoneNumbers,
    SocialSecurityNumbers,
    CreditCards,
    IpAddresses,
    Credentials,
    FileSystemPaths,
    InternalHosts,
)
# For the turns of a conversation file or dataset.
TURN_CHECKS: tuple[type[Check], ...] = (
    *INTEGRITY_CHECKS,
    RoleOrder,
    TimestampOrder,
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
# Told by a model, many times slower than all the others together: see ``w406_names.names_check``.
NAME_CHECKS: tuple[type[Check], ...] = (NamesOfPeople,)
# For a file or dataset as a whole.
METADATA_CHECKS: tuple[type[Check], ...] = (MissingLicense, MissingProvenance)
FILE_CHECKS: tuple[type[Check], ...] = (LineOrder,)

# Every code there is → its title.
CODE_TITLES: dict[str, str] = (
    READER_CODES
    | IMPORT_CODES
    | PERSONA_CODES
    | {
        check.code: check.title
        for check in (*TURN_CHECKS, *LABEL_CHECKS, *NAME_CHECKS, *METADATA_CHECKS, *FILE_CHECKS)
    }
)


def run_checks(
    records: Iterable[TurnRecord | LineError], checks: Iterable[type[Check]] = TURN_CHECKS
) -> Iterator[Finding]:
    """Findings over turns whose sessions are in one piece, with ``turn_index`` never falling."""
    return runner.run_turn_checks(records, checks)


def run_label_checks(
    records: Iterable[LabelRecord | LineError], checks: Iterable[type[Check]] = LABEL_CHECKS
) -> Iterator[Finding]:
    """Findings over the labels of an annotation file, in any order."""
    return runner.run_label_checks(records, checks)


def run_metadata_checks(metadata: DatasetMetadata | None, reason: str = "") -> Iterator[Finding]:
    """Findings about what is stated of a whole dataset; ``why`` explains a missing ``metadata``."""
    return runner.run_metadata_checks(metadata, METADATA_CHECKS, reason)
