"""The words around a number that say what it is.

Looked up in sets, one word after another away from the number: that is quick, the same in all languages, and
takes time by the length of the window alone.
"""

import re

# How far from a number its words may stand.
BEFORE_CHARACTERS, AFTER_CHARACTERS = 100, 60
MAX_WINDOW_CHARACTERS = 200
NEWLINE = "\n"

_NON_LETTERS_TO_SPACES = bytes(byte if byte >= 0x80 or chr(byte).isalpha() else 32 for byte in range(256))
_TOKEN = re.compile(r"[^\W\d_]+|\d+|\n|[^\w ]")
# Of scripts written without spaces: each is a word wherever it stands.
_UNSPACED = re.compile(
    "电话|電話|手机|手機|座机|传真|傳真|携帯|ファックス|ファクス|전화|휴대폰|핸드폰|연락처|โทรศัพท์|เบอร์|โทร"
    "|账号|賬號|帐号|帳號|账户|帳戶|卡号|客户|客戶|会员|會員|口座|会員|お客様|顧客|계좌|회원|고객"
    "|番号|号码|號碼|编号|編號|번호|订单|訂單|注文|주문|我的|您的"
)


class Window:
    """The words before and after ``text[start:end]``, in lower case, of its line and of those next to it."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.before = _prepare(text[max(0, start - BEFORE_CHARACTERS) : start])
        self.after = _prepare(text[end : end + AFTER_CHARACTERS])

    def join_text(self) -> str:
        return f"{self.before} {self.after}"

    def list_tokens_before(self) -> list[str]:
        """Words, numbers, signs and line ends, the nearest first."""
        return _TOKEN.findall(self.before)[::-1]

    def list_tokens_after(self) -> list[str]:
        return _TOKEN.findall(self.after)


def _prepare(text: str) -> str:
    lower = text.lower()
    if "/c" in lower:
        lower = lower.replace("a/c", "account").replace("c/c", "conto")
    return lower if lower.isascii() else _UNSPACED.sub(r" \g<0> ", lower)


def split_words(text: str) -> list[bytes]:
    """Words in UTF-8 and lower case, for a look-up of whether any of them matters."""
    return _prepare(text).encode("utf-8", "replace").translate(_NON_LETTERS_TO_SPACES).split()
