"""Invented user names, and identifiers of code and things: what only the words around tell apart."""

import random
import string

_VERBS = (
    "get set is has load save read write open close make build run start stop init parse format to "
    "from check find fetch send push pop add remove update create delete copy move sort merge split "
    "join map render draw handle on use with enable disable encode decode"
).split()
_NOUNS = (
    "name value list item user file path line node tree index count size length width height id key "
    "token type state config option event handler buffer stream queue cache table row column page "
    "view model form field error result status message session request response header body image "
    "text string number date time job task worker thread lock socket port host url query schema test "
    "data map set array object class module"
).split()
_SHORT = (
    "lib str buf ptr ctl sys mem cfg tmp usr db sql http json xml py fs io cpu gpu net dev proc var "
    "opt img src dst msg req res ctx cmd arg env log pkg bin std vm api ui os ssl tls ssh tcp udp "
    "dns xfs ext wifi usb pci"
).split()
_ENDINGS = ("d", "ctl", "lib", "js", "py", "rs", "kit", "db", "fs", "cli", "ql", "mq", "x")
_ADDED = ("the", "its", "im", "real", "not", "mr", "xX", "official", "just", "iam", "el", "da", "lil", "big")
_LEET = str.maketrans("aeiost", "431057")


class Identifiers:
    """Draws from ``words``, the common ones of a language, and from names of people."""

    def __init__(self, words: list[str], choose: random.Random) -> None:
        self._words = [word for word in words if word.isalpha() and len(word) > 2]
        self._choose = choose

    def make_user(self, first: str, last: str) -> str:
        """A user name, of a person's name or of words: jane_doe4, thequietotter, xX_pickle_Xx."""
        draw = self._choose
        first, last = (_keep_letters(name) for name in (first, last))
        word, other = draw.choice(self._words), draw.choice(self._words)
        body = draw.choice(
            [
                *([[first, last], [first[:1], last], [word, other]] * 2),
                *([[word]] * 2),
                [last, first],
                [last, first[:1]],
                [first, word],
                [word, first],
                [last, word],
                [draw.choice(_ADDED), word],
                [draw.choice(_ADDED), first, last],
                [word, draw.choice(_ENDINGS)],
                [first],
                [last],
            ]
        )
        made = draw.choice(("", "", "", "", "_", ".", "-", "_")).join(part for part in body if part)
        style = draw.random()
        if style < 0.2:
            made = "".join(part[:1].upper() + part[1:] for part in body)
        elif style < 0.25:
            made = made.upper()
        elif style < 0.28:
            made = made[:1] + made[1:].translate(_LEET)
        if draw.random() < 0.45:
            number = draw.choice((10, 100, 100, 10_000))
            year = draw.randrange(1950, 2015)
            made += draw.choice(("", "", "_", ".")) + str(draw.choice((year, draw.randrange(number))))
        if draw.random() < 0.12:
            made = draw.choice(("_{}_", "xX{}Xx", "{}_", "_{}", "x{}x", "{}__")).format(made)
        return made if len(made) > 2 else made + "77"

    def make_code(self) -> str:
        """An identifier of code, or a number of a thing: tune2fs, getHeight, MAX_ROWS, TX-4410B."""
        draw = self._choose
        parts = [
            draw.choice(draw.choice((_VERBS, _NOUNS, _SHORT, self._words)))
            for _ in range(draw.choice((1, 2, 2, 3)))
        ]
        kind = draw.random()
        if kind < 0.2:
            return "_".join(parts) + draw.choice(("", "", "", "_id", "2", "_t"))
        if kind < 0.35:
            return parts[0] + "".join(part.title() for part in parts[1:]) + draw.choice(("", "", "2", "Fn"))
        if kind < 0.45:
            return "".join(part.title() for part in parts)
        if kind < 0.52:
            return "_".join(parts).upper()
        if kind < 0.6:
            return "-".join(parts)
        if kind < 0.75:
            short = draw.choice(_SHORT)
            return draw.choice(
                [
                    short + parts[0],
                    parts[0] + short,
                    "lib" + "".join(parts),
                    parts[0] + draw.choice(_ENDINGS),
                    parts[0][:4] + "2" + draw.choice(_SHORT),
                    parts[0] + str(draw.randrange(10)),
                    short + short,
                    parts[0][:5],
                ]
            )
        if kind < 0.85:
            return parts[0]
        letters = "".join(draw.choices(string.ascii_uppercase, k=draw.randrange(1, 4)))
        number = str(draw.randrange(10 ** draw.randrange(2, 8)))
        return draw.choice(("", "-", "#")).join((letters, number)) + draw.choice(("", "", "B", "-A"))


def _keep_letters(name: str) -> str:
    plain = "".join(filter(str.isalpha, name.split()[0] if name.split() else ""))
    return plain.lower()
