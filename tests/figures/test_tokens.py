"""The pictures of a text that is read, as data, and its HTML: nothing of it comes from the text."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from tests.colours import contrast
from xpos_viz import xpos
from xpos_viz.figures.passage import LEVELS, Passage, Token, markup, tint
from xpos_viz.figures.tokens import BARS, STEPS, bars, head_maps, tinted
from xpos_viz.figures.words import percent, rounded
from xpos_viz.inputs import Sample
from xpos_viz.inputs.sample import read_sample, token_labels
from xpos_viz.studies.tokens import PIECE, all_heads, read
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.theme import INKS, PALETTES, Mode

SHORT, LONG = Sample("pronoun", 8, 2), Sample("tidebook", 3, 0)
FADING = xpos(64, base=100_000.0, scale_base=8.0)
LABELS = "RoPE (base 100,000)", "XPos (base 100,000, γ 0.4, B 8)"
MODES: tuple[Mode, ...] = ("light", "dark")
AA = 4.5
"""WCAG 2.2, 1.4.3: the least contrast of text."""


class Reader(HTMLParser):
    """What a browser makes of HTML: elements with their attributes, and the text of each class."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.text, self.open = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.open.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        inside = [tag for tag, _ in self.open]
        quiet = any("xv-spoken" in attrs.get("class", "") for _, attrs in self.open)
        hidden = any(attrs.get("aria-hidden") for _, attrs in self.open)
        if not {"style", "p"} & set(inside) and not quiet and not hidden:
            self.text.append(data)


def passage(*tokens):
    """A passage of some tokens."""
    legend, roles = ("gains", "loses", "points"), (("query", "query"), ("ahead", "ahead"))
    return Passage(("Title", "line"), "Said.", legend, ("1", "2"), tokens, "blue_red", roles)


# HTML


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "' onmouseover='alert(1)",
        "</i></div><h1>&amp;",
        "<!-- -->]]>{text}",
    ],
)
def test_whatever_the_text_says_it_stays_text(text):
    plain = Reader(markup(passage(Token(" ", "word", "title", 3, "gain", "", "gains 1"))))
    token = Token(text, text, text, 3, "gain", "query", text)
    roles = (("query", text), ("ahead", text))
    hostile = Passage((text,) * 2, text, (text,) * 3, (text,) * 2, (token,), "blue_red", roles)
    read = Reader(markup(hostile))
    assert [tag for tag, _ in read.elements] == [tag for tag, _ in plain.elements]
    allowed = {"class", "title", "role", "aria-label", "aria-hidden"}
    assert all(attrs.keys() <= allowed for _, attrs in read.elements)
    assert "".join(read.text) == 2 * text
    titles = [attrs["title"] for _, attrs in read.elements if "title" in attrs]
    assert titles == [text]
    assert not read.open


def test_a_tint_is_said_by_a_line_a_mark_and_words():
    html = markup(
        passage(
            Token("", "up", "up: more", LEVELS, "gain", spoken="gains 2 points"),
            Token(" ", "down", "down: less", -1),
            Token(" ", "same", "same"),
            Token(" ", "little", "little", 0, "loss", spoken="loses 0.02 points"),
            Token(" ", "me", "me", role="query"),
            Token(" ", "later", role="ahead"),
        )
    )
    body = html.split("</p>")[-1]
    assert body == (
        '<i class="xv-gain xv-gain-5" title="up: more">up<span aria-hidden="true">▲</span>'
        '<span class="xv-spoken"> (gains 2 points) </span></i>'
        ' <i class="xv-loss xv-loss-1" title="down: less">down</i>'
        ' <i class="" title="same">same</i>'
        ' <i class="" title="little">little<span aria-hidden="true">▼</span>'
        '<span class="xv-spoken"> (loses 0.02 points) </span></i>'
        ' <i class="xv-query" title="me">me</i>'
        ' <i class="xv-faint">later</i></div>'
    )
    assert 'role="group" aria-label="Said."' in html
    assert (
        '<p>▼ loses <i class="xv-loss xv-loss-2">2</i><i class="xv-loss xv-loss-1">1</i> '
        '<i class="xv-gain xv-gain-1">1</i><i class="xv-gain xv-gain-2">2</i> gains ▲ points · '
        '<i class="xv-query">query</i> · <i class="xv-faint">ahead</i></p>'
    ) in html
    assert ".xv-gain { text-decoration: underline solid" in html
    assert ".xv-loss { text-decoration: underline dotted" in html


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("colours", PALETTES)
def test_text_is_legible_on_every_tint(colours, mode):
    ink = INKS[mode]
    grounds = [tint(level, colours, mode) for level in range(-LEVELS, LEVELS + 1)]
    assert grounds[LEVELS] == ink.page
    assert len(set(grounds)) == 2 * LEVELS + 1
    assert min(contrast(ink.text, ground) for ground in grounds) >= AA
    assert contrast(ink.faint, ink.page) >= AA
    for end in (0, -1):
        assert contrast(grounds[end], ink.page) > 1.5
        assert tint([-LEVELS, LEVELS][end], colours, mode) in markup(
            Passage(("",), "", ("", "", ""), (), (), colours), mode
        )


# The text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_short_text_is_shown_whole_and_can_be_read(language):
    shown = tinted(read(SHORT, FADING, 20), texts(language))
    said = "".join(token.gap + token.label for token in shown.tokens)
    assert said == str(read_sample("pronoun")["text"])
    assert "".join(Reader(markup(shown)).text) == said
    assert [token.role for token in shown.tokens] == [""] * 20 + ["query"] + ["ahead"] * 7
    assert shown.notes == tuple(map(texts(language), ("tokens.tint_note", "tokens.word_pieces")))


def test_tints_are_the_changes():
    reading = read(SHORT, FADING, 20)
    tokens = tinted(reading, texts("en")).tokens[:21]
    steps = [sum(abs(change) >= step / 100 for step in STEPS) for change in reading.change]
    levels = (np.sign(reading.change) * steps).tolist()
    assert len(STEPS) == LEVELS
    assert [token.level for token in tokens] == levels
    assert (levels[0], levels[6]) == (-4, 4)
    order = np.argsort(reading.change).tolist()
    marks = {place: token.mark for place, token in enumerate(tokens) if token.mark}
    assert marks == dict.fromkeys(order[:3], "loss") | dict.fromkeys(order[-3:], "gain")
    assert {place for place, token in enumerate(tokens) if token.spoken} == marks.keys()
    gained = 100 * reading.change[6]
    assert tokens[6].spoken == f"gains {gained:.3g} points"
    assert tokens[6].title == (
        f"“the” (token 6): {percent(reading.before.weights[6])} of the attention under RoPE, "
        f"{percent(reading.after.weights[6])} under XPos"
    )


def test_tints_are_of_one_scale_whatever_else_changes():
    little = read(SHORT, xpos(64, base=1e5, scale_base=1e5), 20)
    shown = tinted(little, texts("en"))
    assert 1e-6 < max(abs(little.change)) < 1e-3
    assert {token.level for token in shown.tokens} == {0}
    assert {token.mark for token in shown.tokens} == {"", "gain", "loss"}
    assert shown.steps == ("0.1", "0.3", "1", "3", "10")


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "No token in sight loses."), ("zh", "所见文本中没有减少的词元。")],
)
def test_marks_are_in_sight_or_it_is_said_that_there_is_none(language, words):
    reading = read(LONG, xpos(64, base=1e5, scale_base=512.0), 1001)
    assert reading.change.argmin() == 11 < reading.piece.start
    shown = tinted(reading, texts(language))
    assert [token.mark for token in shown.tokens if token.mark] == ["gain"] * 3
    assert shown.notes[1] == words


def test_words_that_are_read_in_pieces_are_explained():
    said = "Some words are read in pieces: each piece is a token, and has a tint of its own."
    assert token_labels("pronoun")[8:10] == ("suit", "case")
    explained = {
        name: said in tinted(read(Sample(name, 8, 2), FADING, 20), texts("en")).notes
        for name in ("tidebook", "harbour", "pronoun", "chinese")
    }
    assert explained == {"tidebook": True, "harbour": False, "pronoun": True, "chinese": False}


def test_words_of_a_passage():
    reading = read(SHORT, FADING, 20)
    shown = tinted(reading, texts("en"), "teal_brown")
    assert shown.title == (
        "What “on” (token 20) reads",
        f"change of its attention from {LABELS[0]} to {LABELS[1]}",
    )
    gain, loss = (rounded(100 * abs(reading.change[key])) for key in (6, 0))
    assert shown.alt.endswith(
        f"“the” (token 6) gains most, {gain} percentage points; “The” (token 0) loses most, {loss}."
    )
    assert shown.colours == "teal_brown"


@pytest.mark.parametrize("query", [0, 20, 500, 1001])
def test_of_a_long_text_a_piece_is_shown_and_the_rest_is_counted(query):
    reading = read(LONG, FADING, query)
    shown = tinted(reading, texts("en"))
    piece = reading.piece
    assert len(shown.tokens) == PIECE
    assert f"Shown: tokens {piece.start} to {piece.stop - 1:,} of 1,002." in shown.notes
    left = [note for note in shown.notes if note.startswith("Left out")]
    if piece.start:
        before, after = (
            percent(row.weights[: piece.start].sum()) for row in (reading.before, reading.after)
        )
        (note,) = left
        assert note == (
            f"Left out of the text, not of the sums: tokens 0 to {piece.start - 1}, which hold "
            f"{before} of the attention under RoPE and {after} under XPos."
        )
    else:
        assert left == []


def test_characters_of_several_tokens_are_named_by_their_shares():
    shown = tinted(read(Sample("chinese", 8, 3), FADING, 40), texts("zh"))
    assert [token.label for token in shown.tokens[:4]] == ["位 ½", "位 2/2", "置", "编 ⅓"]
    assert texts("zh")("figure.pieces") in shown.notes


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("scale_base", [1e-3, 8.0, 1e12])
@pytest.mark.parametrize("query", [0, 1])
def test_a_query_with_little_to_read_is_described(query, scale_base, language):
    reading = read(SHORT, xpos(64, base=1e5, scale_base=scale_base), query)
    shown, drawn = tinted(reading, texts(language)), bars(reading, texts(language))
    said = "\n".join((*shown.notes, shown.alt, drawn.alt, *drawn.notes))
    assert not re.search(r"nan|inf|–|\{|-0\b", said)
    assert len(drawn.labels) == query + 1
    still = query == 0 or scale_base > 1e6
    assert reading.still is still
    assert (texts(language)("tokens.still_note") in shown.notes) is still
    assert any(token.level for token in shown.tokens) is not still


# Bars


def test_bars_are_the_weights_of_the_strongest_keys():
    reading = read(LONG, FADING, 900)
    shown = bars(reading, texts("en"))
    keys = reading.strongest(BARS)
    assert len(shown.labels) == BARS == 20
    labels = token_labels("tidebook")
    assert shown.labels == tuple(f"{key} {labels[key]}" for key in keys)
    assert [name for name, _ in shown.series] == list(LABELS)
    for (_, heights), row in zip(shown.series, (reading.before, reading.after), strict=True):
        assert np.array_equal(heights, row.weights[keys])
    rest = [percent(1 - heights.sum()) for _, heights in shown.series]
    assert shown.notes[-1] == (
        f"Keys without bars: 881. Together they hold {rest[0]} of the attention under RoPE and "
        f"{rest[1]} under XPos."
    )
    assert shown.title == (
        "Weights of query 900",
        "20 of 901 keys: those with the largest weights",
    )
    assert (shown.x, shown.y) == ("key (position and token)", "weight (share of 1)")


def test_bars_of_few_keys_leave_nothing_out():
    shown = bars(read(SHORT, FADING, 11), texts("zh"))
    assert len(shown.labels) == 12
    assert len(shown.notes) == 1
    assert "第 8 层第 2 头" in shown.notes[0]


# All heads


@pytest.mark.parametrize(
    ("shown", "scale", "what"),
    [
        ("change", "diverging", "XPos − RoPE"),
        ("rope", "sequential", "under RoPE"),
        ("xpos", "sequential", "under XPos"),
    ],
)
def test_all_heads_share_one_bar(shown, scale, what):
    heads = all_heads(SHORT, FADING)
    maps = head_maps(heads, shown, texts("en"), "purple_orange")
    assert (maps.across, len(maps.panels), len(maps.bars)) == (3, 9, 1)
    for panel, values in zip(maps.panels, heads.maps(shown), strict=True):
        assert np.array_equal(panel.values, values, equal_nan=True)
        assert np.array_equal(panel.seen, np.tri(28, dtype=bool))
        assert panel.bar == 0
    titles = [(f"Head {head}", f"{what}, chosen" if head == 2 else what) for head in range(9)]
    assert [panel.title for panel in maps.panels] == titles
    (bar,) = maps.bars
    magnitudes = np.sort(np.abs(heads.maps(shown)[:, np.tri(28, dtype=bool)]).ravel())
    assert bar.limit == magnitudes[int(np.ceil(0.995 * (len(magnitudes) - 1)))]
    assert (bar.scale, bar.colours) == (scale, "purple_orange")
    assert rounded(bar.limit) in maps.notes[0]
    assert what in maps.alt


def test_blocks_of_a_long_text_are_said():
    heads = all_heads(LONG, FADING)
    maps = head_maps(heads, "change", texts("en"))
    assert maps.axis.block == 16
    assert maps.axis.positions.tolist() == heads.positions.tolist()
    assert maps.notes[-1] == texts("en")("figure.block", block=16)
    assert maps.axis.labels == ()
