"""Which column of a table is what: guessed by name, in several languages, or stated by a mapping."""

import re
import unicodedata
from collections.abc import Iterable, Mapping

from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.traces.dates import DATE_ORDERS

COLUMNS: dict[str, tuple[str, ...]] = {
    "session_id": ("session_id", "conversation_id", "thread_id", "ticket_id", "chat_id", "dialogue_id",
                   "dialog_id",
                   "conv_id", "case_id", "session", "conversation", "thread", "ticket", "conversationid",
                   "sessionid",
                   "chatid", "threadid", "interaction_id", "call_id"),
    "turn_index": ("turn_index", "turn", "turn_id", "turn_number", "message_index", "turn_no", "seq",
                   "sequence",
                   "utterance_idx", "message_number", "position", "order", "msg_index", "turn_idx",
                   "line_number"),
    # What says a role comes before what may say a name.
    "role": ("role", "sender_role", "author_role", "speaker_role", "message_role", "sender_type",
             "author_type", "user_type", "speaker", "sender", "author", "from", "participant", "type",
             "direction", "who", "name", "rolle", "absender", "verfasser", "autor", "remitente", "auteur",
             "expediteur", "nadawca", "gonderen", "yazar"),
    "text": ("text", "content", "message", "utterance", "body", "message_text", "message_body", "value",
             "comment",
             "transcript", "msg", "sentence", "message_content", "nachricht", "inhalt", "mensaje", "texto",
             "contenido", "texte", "contenu", "wiadomosc", "tresc", "mesaj", "metin"),
    "timestamp": ("timestamp", "created_at", "time", "datetime", "date", "sent_at", "createdat",
                  "message_time",
                  "created", "create_time", "message_timestamp", "datum", "erstellt", "erstellt_am",
                  "zeitpunkt",
                  "fecha", "creado", "date_de_creation", "cree_le", "utworzono", "data_utworzenia", "tarih"),
    "tags": ("tags", "tag", "labels", "topics"),
}  # fmt: skip
# What lines of a table may be written in that aren't UTF-8.
ENCODINGS = ("windows-1252", "windows-1250", "windows-1251", "windows-1253", "windows-1254", "windows-1255",
             "windows-1256", "mac-roman", "shift-jis", "euc-kr", "gb18030", "big5")  # fmt: skip
# In place of a session column: the table is one conversation, or each row is one.
ONE_CONVERSATION, EACH_ROW = "one-conversation", "each-row"
# What a mapping may say instead of the name of a column; the last three name no column at all.
CHOICES: dict[str, tuple[str, ...]] = {"session_id": (ONE_CONVERSATION, EACH_ROW), "dates": DATE_ORDERS,
                                       "repeated": ("keep", "drop"), "encoding": ENCODINGS}  # fmt: skip
WITHOUT_COLUMN = ("dates", "repeated", "encoding")
# Instead of text and role, of a table with a conversation in each row, or several answers to choose from.
PAIR = ("question", "answer")
WITH_COLUMN = (*COLUMNS, *PAIR)
FIELDS = (*WITH_COLUMN, *WITHOUT_COLUMN)
# "sender:Internal note" = leave-out: what a sender or a role of the file is.
SENDER, LEAVE_OUT = "sender:", "leave-out"
SIDES = ("user", "assistant", LEAVE_OUT)
COLUMNS_FORM = 'name columns like this: text=Body, role=Author, "sender:Roe, Jane=user"'
REQUIRED = ("text", "role")
NEEDS_BOTH = f"the mapping needs at least {' and '.join(REQUIRED)}"

# A session column is one of these nouns, with or without a word for "number", in any order.
_NOUNS = frozenset(
    "session conversation conv conversa conversacion conversazione thread ticket tickets chat dialog "
    "dialogo dialogue case incident interaction gesprach unterhaltung vorgang sitzung fall anfrage caso cas "
    "hilo sesion sessao sessione dossier echange discussion gesprek zaak sessie rozmowa zgloszenie "
    "zgloszenia sesja sprawa atendimento chamado diskussion arende samtal sag samtale диалог обращение "
    "обращения чат беседа сессия 会话 对话 工单 会話 대화".split()
)
_NUMBERS = frozenset(
    "id ids no nr num number nummer numer numero num nro identifier identificador identifiant kennung key "
    "ref reference referenz referencia code uuid guid номер ид 编号 番号 번호".split()
)
_FILLERS = frozenset("de del der des du la le el di da do van of the".split())
# "Created (CET)"
_REMARK = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_PLAIN = str.maketrans("°łŁøØ", "olLoO")
_ENDINGS = ("nummer", "nr", "id", "number", "no")


def normalize(name: str) -> str:
    """ "Case No", "CaseNo", "case-no" and "Case #" → case_no; "Vorgangs-Nr." → vorgangs_nr."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.replace("#", " no ").translate(_PLAIN))
    plain = unicodedata.normalize("NFKD", name).casefold()
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return re.sub(r"[\W_]+", "_", plain).strip("_")


def guess_columns(columns: Iterable[str]) -> dict[str, str]:
    """{"text": "Body", …}: what each column is, as far as its name tells."""
    columns = list(columns)
    names = {normalize(_REMARK.sub("", column)): column for column in reversed(columns)}
    names |= {normalize(column): column for column in reversed(columns)}
    names |= {
        name.replace("_", ""): column for name, column in names.items() if name.replace("_", "") not in names
    }
    found = {
        target: next(names[name] for name in candidates if name in names)
        for target, candidates in COLUMNS.items()
        if any(name in names for name in candidates)
    }
    named = next((column for column in columns if _names_sessions(normalize(column))), "")
    if named and "session_id" not in found and named not in found.values():
        found["session_id"] = named
    return {target: found[target] for target in COLUMNS if target in found}


def _names_sessions(name: str) -> bool:
    words = [word for word in name.split("_") if word not in _FILLERS]
    for ending in _ENDINGS:
        if len(words) == 1 and words[0] not in _NOUNS and words[0].endswith(ending):
            words = [words[0].removesuffix(ending), ending]
    nouns = [word for word in words if word in _NOUNS or word.removesuffix("s") in _NOUNS]
    return bool(nouns) and all(word in _NUMBERS for word in words if word not in nouns)


def guess_mapping(columns: Iterable[str]) -> dict[str, str]:
    """{"text": "Body", …}: which column is what; empty unless there are a text and who wrote it."""
    found = guess_columns(columns)
    return found if all(field in found for field in REQUIRED) else {}


def complete_mapping(mapping: Mapping[str, str], columns: Iterable[str]) -> dict[str, str]:
    """The mapping, with the fields that it doesn't name as their columns are guessed. A field that it leaves
    empty has no column. Raises UnreadableFile as :func:`check_mapping` does, and for a mapping without text
    and role; without any mapping it is empty then."""
    columns = list(columns)
    taken = set(mapping.values())
    guessed = {field: column for field, column in guess_columns(columns).items() if column not in taken}
    completed = {field: column for field, column in {**guessed, **mapping}.items() if column}
    check_mapping(mapping, columns)
    if all(field in completed for field in REQUIRED):
        return completed
    if any(field in COLUMNS for field in mapping):
        raise UnreadableFile(f"{NEEDS_BOTH}; its columns: {', '.join(columns[:30])}")
    return {}


def check_mapping(mapping: Mapping[str, str], columns: Iterable[str]) -> None:
    """Raises UnreadableFile if the mapping names what is neither a field nor a column."""
    known = list(columns)
    for target, column in mapping.items():
        choices = SIDES if target.startswith(SENDER) else CHOICES.get(target, ())
        if target not in FIELDS and not target.startswith(SENDER):
            raise UnreadableFile(f"the mapping names {target!r}; use {', '.join(FIELDS)} or {SENDER}NAME")
        if target not in WITH_COLUMN and column not in choices:
            raise UnreadableFile(f"the mapping says {target}={column}; use {' or '.join(choices)}")
        if target in WITH_COLUMN and column and column not in known and column not in choices:
            raise UnreadableFile(f"has no column {column!r}; its columns: {', '.join(known[:30])}")
    if "answer" in mapping:
        if clash := [field for field in COLUMNS if mapping.get(field) and field != "session_id"]:
            raise UnreadableFile(f"the mapping names answer and {clash[0]}; leave {clash[0]} out")
    elif "question" in mapping:
        raise UnreadableFile("the mapping names question without answer; name both")
    elif not all(mapping.get(field, "guessed") for field in REQUIRED):
        raise UnreadableFile(NEEDS_BOTH)


def read_sides(mapping: Mapping[str, str]) -> dict[str, str]:
    """{sender as it is compared: user, assistant or leave-out} of a mapping."""
    return {
        fold_sender(key.removeprefix(SENDER)): side for key, side in mapping.items() if key.startswith(SENDER)
    }


def fold_sender(name: str) -> str:
    """A sender's name as it is compared: whatever the case, the blanks and how accents are encoded."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def parse_columns(items: Iterable[str]) -> dict[str, str]:
    """["text=Body", …] → {"text": "Body", …}; "tags=" says that there is no such column. Raises
    UnreadableFile."""
    mapping = {}
    for item in items:
        # A sender's name may hold any character, and so may a column's.
        is_sender = item.lstrip().startswith(SENDER)
        field, equals, column = item.rpartition("=") if is_sender else item.partition("=")
        if not equals or not (column.strip() or field.strip() in COLUMNS):
            raise UnreadableFile(COLUMNS_FORM)
        mapping[field.strip()] = column.strip()
    return mapping


def format_columns(columns: Mapping[str, str]) -> str:
    """An item with a comma in it is in quotation marks: text=Body, "sender:Roe, Jane=user"."""
    fields = [*(field for field in FIELDS if field in columns)]
    fields += sorted(field for field in columns if field.startswith(SENDER))
    items = (f"{field}={columns[field]}" for field in fields)
    return ", ".join(
        '"' + item.replace('"', '""') + '"' if set(item) & set(',"\r\n') else item for item in items
    )
