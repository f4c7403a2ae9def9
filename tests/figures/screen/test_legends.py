"""Legends as lists: what is named, in which order, and with which sign."""

import re
from dataclasses import replace

import pytest

from tests import kinds
from xpos_viz.figures.description import Curve
from xpos_viz.figures.screen.legends import entries, markup
from xpos_viz.theme import LINES

HINT = 'Point at "it".'


def test_a_curve_is_named_beside_a_piece_of_its_line():
    (mean, solid), (bound, dotted), _ = entries(kinds.curves())
    assert (mean, bound) == ("mean", "bound <b>")
    assert f"({LINES[2]} 0px 2px, #0000 2px 5px)" in solid.replace("90deg, ", "")
    assert solid == dotted
    whole = replace(kinds.curves(), curves=(Curve("a", kinds.X, kinds.X, line=1, dash="solid"),))
    assert f"({LINES[1]} 0px 30px)" in markup(whole, HINT).replace("90deg, ", "")


def test_words_of_others_are_shown_letter_by_letter():
    written = markup(kinds.curves(), HINT)
    assert re.findall(r"<li (.*?)>", written) == [
        f'class="xv-at-{place}" tabindex="0" title="Point at &quot;it&quot;."'
        for place in (1, 2, 3)  # after one band
    ]
    assert "bound &lt;b&gt;" in written
    assert "<b>" not in written


def test_bars_have_blocks_of_their_colours():
    names, signs = zip(*entries(kinds.bars()), strict=True)
    assert names == ("RoPE", "XPos <i>")
    assert [re.findall("#[0-9a-f]{6}", sign) for sign in signs] == [[LINES[0]], [LINES[1]]]
    assert entries(kinds.own_bars()) == []


@pytest.mark.parametrize(("points", "named"), [(12, 12), (13, 0)])
def test_many_points_are_named_by_pointing_at_them(points, named):
    assert len(entries(kinds.plane(points))) == named
    assert markup(kinds.plane(points), HINT).count("<li") == named


def test_of_points_those_with_a_path_are_named():
    named = entries(replace(kinds.plane(32), trails=(0, 3)))
    assert [name for name, _ in named] == ["pair 0", "pair 3"]
    assert [re.findall("#[0-9a-f]{6}", sign)[0] for _, sign in named] == list(LINES[:2])


def test_what_has_a_colour_bar_has_no_legend():
    assert markup(kinds.grid(), HINT) == ""
