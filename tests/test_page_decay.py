"""The page of decay without a browser: what each control changes, in both languages."""

import re

import pytest

from tests import apptest
from tests.apptest import again, alts
from xpos_viz import rope, xpos
from xpos_viz.encoding import REGISTRY
from xpos_viz.figures.decay import decay_curves
from xpos_viz.figures.screen import legends
from xpos_viz.pictures import PICTURES
from xpos_viz.state import from_address
from xpos_viz.state.model import MAX_KEPT_CURVES
from xpos_viz.studies.decay import ASSUMPTIONS, READINGS, Chance, Reading
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.ui import layout
from xpos_viz.ui.decay import DISTANCES, FORMULAS

pytestmark = pytest.mark.usefixtures("steady")

EN = texts("en")


def opened(**address):
    """The page at an address."""
    return apptest.opened("decay", address)


def notices(page, language="en"):
    """What is to be noticed."""
    headers = [header.value for header in page.header]
    assert texts(language)("ui.notice") in headers
    (said,) = (m.value for m in page.markdown if m.value.startswith("- "))
    return [sentence.removeprefix("- ") for sentence in said.split("\n")]


def test_it_opens_with_rope_and_xpos_of_the_session():
    page = opened()
    pair = (rope(64, base=100_000.0), xpos(64, base=100_000.0))
    assert alts(page) == [decay_curves(pair, Reading(), 4096, EN).alt]
    first, second, third = notices(page)
    assert first.startswith(
        "The first lag up to 4,096 tokens at which g is below zero: RoPE 3,616 tokens, XPos none."
    )
    assert "RoPE without end, XPos 831 tokens." in second
    assert "left at 4,096 tokens: RoPE 17.2\u00a0%, XPos 11.3\u00a0%." in third


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("assumption", ASSUMPTIONS)
def test_every_assumption_has_its_words_and_its_formula(assumption, language):
    page = opened(assumption=assumption, lang=language, distance="64", name="pronoun")
    text = texts(language)
    what = "g" if assumption == "ones" else assumption
    assert page.title[0].value == text("pages.decay.title")
    assert text(f"decay.words.{what}") in [m.value for m in page.markdown]
    assert [m.value for m in page.latex] == [f"$$\n{FORMULAS[what]}\n$$"]
    assert len(notices(page, language)) == 3
    labels = [box.label for box in page.selectbox]
    assert (text("ui.reading") in labels) == (assumption == "ones")
    assert (text("ui.source") in labels) == (assumption == "captured")
    sliders = [slider.label for slider in page.select_slider]
    assert (text("ui.rho") in sliders) == (assumption == "correlated")


@pytest.mark.parametrize("reading", READINGS[1:])
def test_every_reading_can_be_chosen(reading):
    page = again(opened(distance="64").selectbox(key="reading").set_value(reading))
    pair = (rope(64, base=100_000.0), xpos(64, base=100_000.0))
    assert alts(page) == [decay_curves(pair, Reading(reading), 64, EN).alt]
    assert page.query_params["reading"] == reading


def test_controls_change_the_curves_and_the_address():
    page = opened(assumption="correlated")
    again(page.select_slider(key="rho").set_value(-20))
    again(page.select_slider(key="distance").set_value(DISTANCES[-1]))
    again(page.selectbox(key="axis").set_value("log"))
    again(page.select_slider(key="base").set_value(10_000.0))
    again(page.button_group(key="curves").set_value(["rope"]))
    described = decay_curves((rope(64),), Chance(-0.2), 1_000_000, EN, logarithmic=True)
    assert alts(page) == [described.alt]
    assert {key: page.query_params[key] for key in ("rho", "distance", "axis", "curves")} == {
        "rho": "-20",
        "distance": "1000000",
        "axis": "log",
        "curves": "rope",
    }
    assert {slider.key for slider in page.select_slider} == {"rho", "distance", "base"}


def kept_list(page):
    """The list of what stays, if it is there."""
    return [group for group in page.button_group if group.key == "kept_curves"]


def kept(page):
    """The choice of what stays, and what can be chosen there as a reader sees it."""
    (chosen,) = kept_list(page)
    assert chosen.label == EN("ui.kept_curves")
    return chosen, [*chosen.options]


def test_curves_are_kept_while_others_move_and_forgotten_one_by_one():
    page = opened(distance="64", base="10000")
    assert not kept_list(page)
    again(page.button(key="keep_curves").click())
    assert page.query_params["kept_curves"] == "rope,xpos"
    assert page.button(key="keep_curves").disabled  # until something moves
    again(page.select_slider(key="gamma").set_value(2.0))
    again(page.select_slider(key="scale_base").set_value(64.0))
    drawn = (rope(64), xpos(64), xpos(64, gamma=2.0, scale_base=64.0))
    assert alts(page) == [decay_curves(drawn, Reading(), 64, EN).alt]
    assert "RoPE 100\u00a0%, XPos (γ 0.4, B 512) " not in notices(page)[1]
    assert "RoPE without end, XPos (γ 0.4, B 512) 831 tokens, XPos (γ 2, B 64) " in notices(page)[1]
    again(page.button(key="keep_curves").click())
    chosen, labels = kept(page)
    assert labels == [
        "RoPE (base 10,000)",
        "XPos (base 10,000, γ 0.4, B 512)",
        "XPos (base 10,000, γ 2, B 64)",
    ]
    again(chosen.unselect("xpos"))
    assert page.query_params["kept_curves"] == "rope,xpos:gamma:2:scale_base:64"
    again(page.select_slider(key="gamma").set_value(0.4))
    again(kept(page)[0].set_value([]))
    assert "kept_curves" not in page.query_params
    assert not kept_list(page)


def test_no_more_are_kept_than_can_be_told_apart():
    page = opened(distance="64", kept_curves="rope,xpos,nope,decay")
    assert page.button(key="keep_curves").disabled  # two more would be six
    again(page.button_group(key="curves").set_value(["xpos"]))
    again(page.button(key="keep_curves").click())
    assert page.query_params["kept_curves"] == "rope,xpos,nope,decay,xpos:base:100000"


def test_of_many_curves_the_least_and_the_greatest_are_told():
    page = opened(curves=",".join(REGISTRY), kept_curves="xpos:scale_base:8", distance="1024")
    negative, half, left = notices(page)
    assert " none (17 curves). There the sum" in negative
    assert "start: XPos (base 10,000, B 8) 12 tokens to NoPE without end (17 curves)." in half
    assert "NoPE 100\u00a0% (17 curves)" in left


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_cannot_be_kept_is_said_beside_the_button(language):
    page = opened(kept_curves="xpos:gamma:-1", lang=language)
    (warning,) = page.warning
    assert "`kept_curves = xpos:gamma:-1`" in warning.value
    assert not kept_list(page)


def test_an_address_may_leave_the_button_out():
    assert not kept_list(opened(show="gamma", kept_curves="nope"))
    assert kept_list(opened(show="kept_curves", kept_curves="nope"))


def test_all_encodings_are_drawn_and_what_is_added_has_a_picture():
    page = opened(curves=",".join(REGISTRY), distance="1024")
    added, drawn = sorted(alts(page), key=len)
    assert all(family.label in drawn for family in REGISTRY.values())
    assert added.startswith("Bias on the logits, over the lag in tokens up to 1,024. ALiBi")
    again(page.select_slider(key="alibi.slope").set_value(0.5))
    assert "ALiBi (slope 0.5) goes from 0 to −512" in min(alts(page), key=len)
    assert page.query_params["alibi.slope"] == "0.5"


def test_without_an_encoding_the_page_says_what_to_do():
    page = opened(curves="")
    assert not alts(page)
    assert [info.value for info in page.info] == ["Choose at least one encoding to see its curve."]


def test_a_single_token_has_one_point():
    page = opened(source="expectation", length="1", assumption="captured", axis="log")
    (alt,) = alts(page)
    assert "RoPE (base 10,000) goes from 64 to 64" in alt


@pytest.mark.parametrize(
    "address", [{"curves": "xpos", "gamma": "1e-300", "scale_base": "1"}, {"curves": "retnet"}]
)
def test_nothing_that_is_left_is_not_less_than_nothing(address):
    page = opened(distance="1000000", **address)
    (said,) = (m.value for m in page.markdown if m.value.startswith("- "))
    left = said.split("\n")[-1]
    assert re.search(r"1,000,000 tokens: (XPos|RetNet) 0\u00a0%\.", left)


def test_each_name_of_the_longest_legend_pales_the_other_curves():
    kept = ",".join(f"xpos:scale_base:{base}" for base in range(1, MAX_KEPT_CURVES + 1))
    drawn = {"assumption": "independent", "distance": "16"}
    address = drawn | {"curves": ",".join(REGISTRY), "kept_curves": kept}
    state, refused = from_address(address)
    assert not refused
    curves = PICTURES["decay"](state, EN)[0].description
    names = re.findall(r'class="(xv-at-\d+)"', legends.markup(curves, ""))
    assert len(names) == len(REGISTRY) + MAX_KEPT_CURVES
    styled = layout.style("light", large=False)
    assert [name for name in names if f".{name}:is(" not in styled] == []
