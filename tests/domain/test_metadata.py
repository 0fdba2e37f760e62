"""`.meta.yaml`: what is read, kept, refused, and written so that it reads back the same."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_app.domain.metadata.metadata import (
    DatasetMetadata,
    MetadataError,
    metadata_path,
    parse_metadata,
    read_metadata,
    render_metadata,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
NUMBERS = st.integers(0, 10**12)
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | TEXTS
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
KNOWN = set(DatasetMetadata.__dataclass_fields__)
METADATA = st.builds(
    DatasetMetadata,
    name=st.none() | TEXTS,
    version=st.none() | st.sampled_from(["1.10", "2025-11-03", "no", "~", "1e3", "0x10", "null"]),
    license=st.none() | TEXTS,
    modifications=st.lists(TEXTS, max_size=3),
    date_range=st.none()
    | TEXTS
    | st.lists(TEXTS, min_size=1, max_size=2)
    | st.dictionaries(TEXTS, TEXTS, max_size=2),
    seed=st.none() | NUMBERS,
    temperature=st.none() | st.floats(0, 2),
    total_turns=st.none() | NUMBERS,
    extra=st.dictionaries(TEXTS.filter(lambda key: key not in KNOWN), PLAIN, max_size=3),
)


@settings(max_examples=150, deadline=None)
@given(METADATA)
def test_what_is_written_reads_back_the_same(metadata: DatasetMetadata):
    assert parse_metadata(render_metadata(metadata)) == metadata


def test_words_stay_as_they_are_written():
    text = "version: 1.10\ncreated: 2025-11-03\nlicense: no\nname: 0123\nextra_date: 2025-01-01\nat: 12:30\n"
    metadata = parse_metadata(text)
    assert (metadata.version, metadata.created, metadata.license, metadata.name) == (
        "1.10",
        "2025-11-03",
        "no",
        "0123",
    )
    assert metadata.extra == {"extra_date": "2025-01-01", "at": "12:30"}


def test_unknown_keys_are_kept_and_one_text_serves_as_a_list():
    metadata = parse_metadata("anonymization: names removed\nfunding: {grant: 12, open: true}\n")
    assert metadata.anonymization == ["names removed"]
    assert metadata.extra == {"funding": {"grant": 12, "open": True}}


def test_fields_are_written_in_their_order_and_empty_ones_left_out():
    text = render_metadata(DatasetMetadata(sha256="ab", license="CC-BY-4.0", name="démo 🙂", seed=0))
    assert [line.split(":")[0] for line in text.splitlines()] == ["name", "license", "seed", "sha256"]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("seed: many", "seed"),
        ("seed: true", "seed"),
        ("total_turns: -1", "total_turns"),
        ("temperature: hot", "temperature"),
        ("name: [a]", "name"),
        ("modifications: {a: b}", "modifications"),
        ("seed: 1\nseed: 2", "seed"),
        ("when: !!binary aGk=", "when"),
        ("a: !!python/object:os.system x", "a"),
        ('x: "\\0"', "x"),
        ("x: 1e999", "x"),
        ("a: &x [1]\nb: *x", ""),
        ("[" * 10_000, ""),
        ("- a", ""),
        ("{a", ""),
        ("a: \x00", ""),
        ("? [1]\n: 2", ""),
        ("a: " + "x" * (1 << 20), ""),
    ],
)
def test_what_is_refused_names_its_field(text: str, field: str):
    with pytest.raises(MetadataError) as refused:
        parse_metadata(text)
    assert refused.value.field == field
    assert isinstance(refused.value, ValueError)
    assert refused.value.expected in str(refused.value)


def test_a_refusal_does_not_repeat_what_it_found():
    with pytest.raises(MetadataError) as refused:
        parse_metadata("seed: ana@example.com")
    assert "ana" not in str(refused.value)


def test_a_billion_laughs_are_refused_at_once():
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
    with pytest.raises(MetadataError, match="alias"):
        parse_metadata("\n".join(lines))


def test_an_empty_file_says_nothing():
    assert parse_metadata("") == parse_metadata("# later\n") == DatasetMetadata()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("d/a.jsonl", "d/a.meta.yaml"),
        ("d/a.jsonl.gz", "d/a.meta.yaml"),
        ("d/a.b.jsonl", "d/a.b.meta.yaml"),
        ("a", "a.meta.yaml"),
        ("a.txt", "a.txt.meta.yaml"),
    ],
)
def test_metadata_stands_beside_its_file(data: str, expected: str):
    assert metadata_path(Path(data)) == Path(expected)


def test_a_file_is_read_if_it_is_there(tmp_path: Path):
    path = tmp_path / "a.meta.yaml"
    assert read_metadata(path) is None
    path.write_bytes(b"\xef\xbb\xbflicense: MIT\n")
    assert read_metadata(path) == DatasetMetadata(license="MIT")
    path.write_bytes(b"license: \xff\n")
    with pytest.raises(MetadataError, match="UTF-8"):
        read_metadata(path)
