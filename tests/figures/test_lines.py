"""The line of each encoding: the same in every picture, and seen on every ground."""

import tomllib
from itertools import product
from pathlib import Path

import pytest

from tests import drawn, kinds
from tests.colours import contrast
from xpos_viz import rope, xpos
from xpos_viz.encoding import REGISTRY, Encoding, nope
from xpos_viz.figures import paper_pen, plotly_pen
from xpos_viz.figures.description import Curves
from xpos_viz.figures.lines import FAMILY_LINES, lines
from xpos_viz.pictures import PICTURES
from xpos_viz.state import from_address
from xpos_viz.state.model import MAX_KEPT_CURVES
from xpos_viz.texts import texts
from xpos_viz.theme import INKS, LINES, NEUTRAL, Mode

ROPE, XPOS = (0, "solid"), (1, "dash")
GRAPHICS = 3
"""WCAG 2.2, 1.4.11: the least contrast of what is drawn."""
MODES: tuple[Mode, ...] = ("light", "dark")
LINE = {
    "RoPE": ROPE,
    "XPos": XPOS,
    "NoPE": FAMILY_LINES["nope"],
    "p-RoPE": FAMILY_LINES["p_rope"],
}
PAGES = {
    "compare": ({"name": "pronoun"}, ["RoPE", "XPos"]),
    "decay": (
        {"curves": "nope,xpos,p_rope,rope", "distance": "64"},
        ["NoPE", "XPos", "p-RoPE", "RoPE"],
    ),
    "neighbours": (
        {"name": "pronoun", "left": "xpos", "right": "rope", "distance": "64"},
        ["XPos", "RoPE"],
    ),
}


def test_every_family_has_a_line_and_no_two_are_alike():
    assert FAMILY_LINES.keys() == REGISTRY.keys()
    assert len(set(FAMILY_LINES.values())) == len(REGISTRY)
    assert (FAMILY_LINES["rope"], FAMILY_LINES["xpos"]) == (ROPE, XPOS)
    others = {line for name, line in FAMILY_LINES.items() if name not in {"rope", "xpos"}}
    assert not {colour for colour, _ in others} & {0, 1}


def test_a_line_does_not_depend_on_what_else_is_drawn():
    every = [Encoding(name, (("head_dim", 8),)) for name in REGISTRY]
    assert lines(every) == [FAMILY_LINES[name] for name in REGISTRY]
    assert lines(every[::-1]) == lines(every)[::-1]


def test_all_that_are_kept_and_what_is_set_have_lines_of_their_own():
    for make in (rope, xpos):
        given = [make(8, base=10.0**power) for power in range(MAX_KEPT_CURVES + 1)]
        colours, strokes = zip(*lines(given), strict=True)
        assert (len(set(colours)), len(set(strokes))) == (1, len(given))


def test_several_of_one_family_share_its_colour_and_no_stroke():
    scales = [xpos(64, scale_base=scale) for scale in (32.0, 64.0, 128.0, 256.0)]
    dashes = [(1, dash) for dash in ("dash", "dot", "dashdot", "solid")]
    assert lines([rope(64), *scales]) == [ROPE, *dashes]
    assert lines([nope(8), nope(16)]) == [FAMILY_LINES["nope"], (2, "dashdot")]


@pytest.mark.parametrize(("page", "expected"), PAGES.items())
def test_rope_and_xpos_keep_their_lines_on_every_page(page, expected):
    address, names = expected
    state, refused = from_address(address)
    assert not refused
    shown = [picture.description for picture in PICTURES[page](state, texts("en"))]
    (described,) = (each for each in shown if isinstance(each, Curves))
    found = {curve.label.split(" (")[0]: (curve.line, curve.dash) for curve in described.curves}
    assert found == {name: LINE[name.split(",")[0]] for name in names}


@pytest.mark.parametrize(
    ("mode", "code"),
    [*product(MODES, (*LINES, NEUTRAL))],
    ids=lambda value: value.removeprefix("#"),
)
def test_lines_are_seen_on_either_ground(mode, code):
    assert contrast(code, INKS[mode].page) >= GRAPHICS


@pytest.mark.parametrize("mode", MODES)
def test_a_picture_has_the_ground_of_its_page(mode):
    config = Path(__file__).parents[2] / ".streamlit" / "config.toml"
    theme = tomllib.loads(config.read_text(encoding="utf-8"))["theme"]
    assert INKS[mode].page == theme[mode]["backgroundColor"]


@pytest.mark.parametrize(("mode", "name"), [*product(MODES, ("curves", "plane", "bars"))])
def test_what_is_drawn_has_the_whole_colour(mode, name):
    """On a screen nothing but the band of a curve lets the ground through, on paper as well."""
    for trace in drawn.spec(plotly_pen.draw(kinds.ALL[name], mode=mode))["data"]:
        assert trace.get("opacity", 1) == 1
        assert trace.get("line", {}).get("color", LINES[0])[:1] == "#"
    for axes in paper_pen.draw(kinds.ALL[name]).axes:
        assert {line.get_alpha() for line in axes.lines} <= {None, 1}


def test_large_type_enlarges_every_line_of_a_title():
    usual, large = (
        drawn.spec(plotly_pen.draw(kinds.curves(), larger=larger))["layout"]["annotations"]
        for larger in (1.0, 1.5)
    )
    assert [note["font"]["size"] for note in usual] == [15, 11, 11]
    assert [note["font"]["size"] for note in large] == [22.5, 16.5, 16.5]
    assert "font-size:0.8em" in large[0]["text"]
    assert not any("px" in note["text"] for note in large)
