"""Chao1 against published numbers."""

import pytest

from annotations_app.domain.richness import estimate_richness

# Spiders of two stands of trees: Sackett et al. (2011). The numbers are those of the introduction to iNEXT:
# Hsieh, Ma & Chao (2016), Methods in Ecology and Evolution 7, 1451-1456.
GIRDLED = [46, 22, 17, 15, 15, 9, 8, 6, 6, 4, *[2] * 4, *[1] * 12]
LOGGED = [88, 22, 16, 15, 13, 10, 8, 8, 7, 7, 7, 5, 4, 4, 4, 3, 3, 3, 3, 2, 2, 2, 2, *[1] * 14]


@pytest.mark.parametrize(
    ("counts", "total", "seen", "published"),
    [
        (GIRDLED, 168, 26, (43.893, 14.306, 30.511, 96.971)),
        (LOGGED, 252, 37, (61.403, 18.532, 43.502, 128.583)),
    ],
)
def test_published(counts: list[int], total: int, seen: int, published: tuple[float, ...]) -> None:
    assert (sum(counts), len(counts)) == (total, seen)
    found = estimate_richness(counts)
    assert found is not None
    assert found[1:] == pytest.approx(published, abs=6e-4)
    assert found.seen == seen


def test_little_to_tell() -> None:
    assert estimate_richness([]) is None
    assert estimate_richness([0, 0]) is None
    assert estimate_richness([5, 3, 2]) == (3, 3, 0, 3, 3)
    one = estimate_richness([1])
    assert one is not None
    assert (one.seen, one.unseen) == (1, 0)
    # None was seen twice: the form without a division by that number.
    rare = estimate_richness([1, 1, 1, 3])
    assert rare is not None
    assert rare.estimate == pytest.approx(4 + 5 / 6 * 3)
    assert rare.low < rare.estimate < rare.high
