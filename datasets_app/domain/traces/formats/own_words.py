"""What messengers say themselves, in the place of a message: told by structure, else by a file of phrases."""

import re
import unicodedata
from functools import cache
from pathlib import Path

from datasets_app.domain import lazy_re

PHRASES_PATH = Path(__file__).parent.parent / "phrases" / "messengers.txt"
_ENDINGS = (
    "jpe?g png gif webp heic mp4 mov 3gp opus ogg m4a aac mp3 wav pdf docx? xlsx? pptx? vcf zip txt csv"
)
_FILE = rf"\S[^<>\n:]{{0,120}}\.(?:{_ENDINGS.replace(' ', '|')})"
# "IMG-20260105-WA0001.jpg (file attached)" and "<attached: photo.jpg>" in any language; and what stands
# alone in angle brackets, as messengers write what they leave out, unless it is a tag or an address.
_ATTACHED = lazy_re.compile(
    rf"{_FILE} \([^()\n]{{3,50}}\)|<[^<>:\n]{{3,40}}\s?: ?{_FILE}>"
    r"|<(?=[^<>]*[\s\u0080-\U0010ffff])[^<>/=@{}\n]{3,60}>",
    re.IGNORECASE,
)


def is_own_words(text: str) -> bool:
    """Whether the whole of a message is what the messenger wrote in its place."""
    text = text.strip()
    if len(text) > 160 or "\n" in text:
        return False
    return bool(_ATTACHED.fullmatch(text)) or _load_phrases().fullmatch(_fold(text)) is not None


def find_caption(text: str) -> str | None:
    """What somebody wrote below the name of a file that they sent; None for any other message."""
    name, _, caption = text.partition("\n")
    return caption if caption.strip() and _ATTACHED.fullmatch(name.strip()) else None


@cache
def _load_phrases() -> re.Pattern[str]:
    lines = PHRASES_PATH.read_text(encoding="utf-8").splitlines()
    phrases = {_fold(line) for line in lines if line.strip() and line[0] not in "#["}
    written = (
        re.escape(phrase).replace(r"\*", r"[^\n]{1,60}") for phrase in sorted(phrases, key=len, reverse=True)
    )
    return re.compile("|".join(written))


def _fold(text: str) -> str:
    """As phrases are compared: without case, marks of direction, angle brackets and the last full stop."""
    plain = "".join(
        sign for sign in unicodedata.normalize("NFKC", text) if unicodedata.category(sign) != "Cf"
    )
    return " ".join(plain.casefold().split()).strip("<>").rstrip(".。!").strip()
