"""The page of neighbours without a browser: any two, in both languages, and the table."""

import pytest

from tests import apptest
from tests.apptest import SHORT, again, alts
from xpos_viz import rope, xpos
from xpos_viz.encoding import REGISTRY
from xpos_viz.figures.decay import decay_curves
from xpos_viz.figures.words import family_formula
from xpos_viz.studies.decay import Reading
from xpos_viz.studies.neighbours import shares
from xpos_viz.texts import LANGUAGES, texts

pytestmark = pytest.mark.usefixtures("steady")

EN = texts("en")
LATER = EN("neighbours.later")


def opened(**address):
    """The page at an address."""
    return apptest.opened("neighbours", SHORT | address)


def seen(page):
    """What is to be noticed; the other list is that of the encodings."""
    said, _ = (m.value for m in page.markdown if m.value.startswith("- "))
    return said


@pytest.mark.parametrize("language", LANGUAGES)
def test_two_encodings_have_maps_curves_sentences_and_a_table(language):
    page = opened(lang=language)
    text = texts(language)
    pair = (rope(64, base=100_000.0), xpos(64, base=100_000.0, scale_base=8.0))
    maps, curves = alts(page)
    assert all(label in maps for label in ("RoPE", "XPos", "XPos − RoPE"))
    assert curves == decay_curves(pair, Reading(), 4096, text).alt
    said = seen(page)
    assert len(said.split("\n")) == 3
    (shown,) = page.table
    assert shown.value.index.tolist() == [text(f"families.{name}") for name in REGISTRY]
    (families,) = (m.value for m in page.markdown if m.value.startswith("- **"))
    assert families.count("- **") == 16
    for row in REGISTRY.values():
        assert f"\n  {family_formula(row)}  \n  {row.source}" in families


@pytest.mark.parametrize("name", REGISTRY)
def test_every_encoding_can_stand_on_either_side(name):
    other = "rope" if name != "rope" else "nope"
    page = opened(left=name, right=other, stage="masked", distance="64")
    assert REGISTRY[name].label in alts(page)[0]
    again(page.selectbox(key="left").set_value(other))
    again(page.selectbox(key="right").set_value(name))
    assert f"{REGISTRY[name].label} − {REGISTRY[other].label}" in alts(page)[0]
    assert len(alts(page)) == (3 if "logits + " in REGISTRY[name].formula or name == "alibi" else 2)


def test_a_bias_is_seen_from_the_logits_on():
    page = opened(left="nope", right="alibi")
    assert [info.value for info in page.info] == [LATER]
    again(page.selectbox(key="stage").set_value("masked"))
    assert not page.info
    assert page.query_params["stage"] == "masked"


def test_the_same_on_both_sides_is_said():
    page = opened(left="xpos", right="xpos")
    said = seen(page)
    assert said.startswith("- Both sides are XPos with the same parameters, so there is no")


def test_one_token_has_no_distance():
    page = opened(stop="1")
    said = seen(page)
    assert said == f"- {EN('ui.notice_alone')}"


def test_parameters_of_the_session_hold_in_the_table():
    page = opened()
    again(page.select_slider(key="base").set_value(10_000.0))
    assert page.table[0].value["256 tokens"]["RoPE"] == f"{shares(rope(64))[2]:.3f}"
    assert any("**RoPE (base 10,000)**" in m.value for m in page.markdown)


def test_the_chosen_distance_has_a_column_in_the_table():
    page = opened(distance="1024")
    table = page.table[0].value
    assert list(table.columns)[3:] == ["1,024 tokens", "4,096 tokens", "65,536 tokens"]
    assert table["1,024 tokens"]["RoPE"] == f"{shares(rope(64, base=100_000.0), (1024,))[0]:.3f}"
    assert list(opened(distance="4096").table[0].value) == list(table.drop(columns="1,024 tokens"))
