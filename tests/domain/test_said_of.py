"""What a text says of a word that was found as a name."""

import pytest

from datasets_app.domain.pii.names.said_of import Said, read_cues


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("the X is sold out again", Said.NOTHING),
        ("two X, please, and a coffee", Said.NOTHING),
        ("asked X the same thing", Said.DOUBTFUL),
        ("is it true that X bought Nordhaus", Said.DOUBTFUL),
        ("I prefer X because she listens", Said.DOUBTFUL),
        ("my friend X said so", Said.PERSON),
        ("Sure X, please wait", Said.PERSON),
        ("Shout-out to X for the help!", Said.PERSON),
        ("X has joined the conversation.", Said.PERSON),
        ("kind regards\nX\nSupport Team", Said.PERSON),
        ("X 7384", Said.NOTHING),
        ("did you close X too", Said.NOTHING),
    ],
)
def test_cues(text: str, said: Said) -> None:
    start = text.index("X")
    text = text.replace("X", "Zheakin")
    assert read_cues(text, start, start + len("Zheakin")) == said
