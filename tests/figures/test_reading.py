"""The pictures of a text that trained models read, as data and as HTML."""

import re

import numpy as np
import pytest

from tests.readings import HOSTILE
from xpos_viz.figures.passage import markup
from xpos_viz.figures.reading import costs_curves, lost_words, shaded
from xpos_viz.studies.lab import Lab
from xpos_viz.studies.reading import Costs, Read, running
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.theme import LEVEL

EN = texts("en")
BOTH = Lab("quick", ("rope", "xpos_half"))
TEXT = "tide " * 60
READ = Read(BOTH, TEXT)


def paid(read=READ, **excess):
    """What models pay for a text: 2 bits a byte, and an excess beyond the training length."""
    beyond = np.arange(read.size) >= read.length
    return tuple(
        Costs(name, 2.0 + value * beyond, np.full(read.size, 2.0), read.length)
        for name, value in excess.items()
    )


def test_curves_are_means_and_have_a_dot_where_the_thread_is_lost():
    found = paid(rope=1.0, xpos_half=0.25)
    described = costs_curves(READ, found, EN)
    assert [curve.label for curve in described.curves] == [
        "RoPE",
        "XPos (B 32)",
        EN("lab.near", name="RoPE", length=64),
    ]
    for curve, bits in zip(
        described.curves, (found[0].whole, found[1].whole, found[0].near), strict=True
    ):
        np.testing.assert_array_equal(curve.y, running(bits))
        assert curve.x.tolist() == [*range(1, 301)]
    assert found[0].lost == 97  # 33 of the last 64 bytes lie beyond
    dot, trained = described.marks
    assert (dot.x, dot.y, dot.label, dot.line) == (97, running(found[0].whole)[96], "", 0)
    assert (trained.x, trained.y, trained.line) == (64, 2.0, LEVEL)
    assert trained.label == "training length 64"
    assert described.y == "loss, mean of the last 64 bytes (bits per byte)"
    assert described.notes == (
        "A text of one's own, 300 bytes, read after a line break.",
        EN("reading.rule", window=64, edge=0.5, length=64),
    )
    said = [
        "RoPE has lost the thread by byte 97 (paired excess 1.00 bits a byte)",
        "XPos (B 32) does not lose it (paired excess 0.25 bits a byte)",
    ]
    assert list(lost_words(READ, found, EN)) == said
    assert "; ".join(said) in described.alt


def test_of_a_text_that_is_short_nothing_lies_beyond():
    read = Read(BOTH, "tide")
    found = paid(read, rope=1.0)
    described = costs_curves(read, found, EN)
    assert described.marks == ()
    assert len(described.notes) == 1
    (said,) = lost_words(read, found, EN)
    assert said == (
        "The text has 4 bytes, and the training length is 64: nothing lies beyond it, so there is "
        "nothing to lose"
    )
    passage = shaded(read, found[0], EN)
    assert passage.roles == ()
    assert [(token.label, token.title, token.role) for token in passage.tokens] == [
        ("tide", "", "")
    ]


def test_words_are_tinted_by_what_they_cost_more():
    costs = paid(rope=0.0)[0]
    for (first, last), value in {(100, 104): 1.5, (200, 204): -0.7, (250, 254): 9.0}.items():
        costs.whole[first:last] += value
    tokens = shaded(READ, costs, EN).tokens
    level = {place: token.level for place, token in enumerate(tokens) if token.level}
    assert level == {20: 2, 40: -1, 50: 4}  # of " tide", four bytes of five
    assert tokens[50].title == ("bytes 250 to 254: 9.20 bits a byte, 2.00 in windows of 64 bytes")
    assert [tokens[place].mark for place in (20, 40, 50)] == ["gain", "", "gain"]
    assert tokens[50].spoken == "7.2 bits a byte more"
    assert [place for place, token in enumerate(tokens) if token.role] == [13]
    assert {token.title for token in tokens[:12]} == {""}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_a_text_says_it_stays_text(text, language):
    read = Read(BOTH, text * 3)
    html = markup(shaded(read, paid(read, xpos_half=3.0)[0], texts(language)))
    body = html.rpartition("</style>")[2]
    tags = set(re.findall(r"</?(\w+)", body))
    assert tags <= {"div", "p", "b", "i", "span"}
    assert not re.search(r"<[^>]*\son\w+=", body)
    assert "\u202e" not in body
