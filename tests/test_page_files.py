"""The files that a page offers, without a browser."""

import json
from dataclasses import asdict

import pytest
from streamlit.util import calc_hash

from tests.apptest import SHORT, address
from tests.compare_page import (
    again,
    opened,
    release,
)
from xpos_viz import run
from xpos_viz.comparison import compare
from xpos_viz.figures.compare import decay_curves, score_maps
from xpos_viz.results import curves
from xpos_viz.state import from_address
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.ui import downloads

pytestmark = pytest.mark.usefixtures("steady")

PATIENCE = 30
"""Seconds until work that does not end fails a test."""


def test_files_are_offered_for_both_figures_when_they_are_asked_for():
    page, text = opened(SHORT), texts("en")
    whole = [text("ui.bundle"), text("download.handout")]

    def offered(*unfolded):
        for key in unfolded:
            page.session_state[key] = True
        return [button.proto.label for button in again(page).get("download_button")]

    assert offered() == []
    assert offered("sharing") == whole
    labels = offered("sharing", "scores-files", "decay-files")
    forms = ["PNG", "SVG", "PDF", "CSV", "PARQUET", "NPZ"]
    assert sorted(labels) == sorted([*forms * 2, *whole])
    assert address(page) == SHORT
    for button in page.get("download_button"):
        assert button.proto.help


def test_what_was_made_stays_when_something_is_set_otherwise():
    text = texts("en")
    page = opened({"source": "random", "length": "4", "head_dim": "8"})

    def unfolded():
        page.session_state["scores-files"] = True
        return page

    again(unfolded())
    again(unfolded().button(key="scores-make").click())
    work = page.session_state["motion"]
    assert any(work.done(1) for _ in range(PATIENCE))

    def offered():
        labels = [button.proto.label for button in again(unfolded()).get("download_button")]
        said = [caption.value for caption in page.caption]
        return "GIF" in labels, text("download.earlier") in said

    assert offered() == (True, False)
    release(page, scale_base=64.0)
    assert offered() == (True, True)
    release(page, scale_base=512.0)
    assert offered() == (True, False)


def test_a_page_without_a_picture_says_so_instead_of_offering_files():
    page = opened(SHORT)
    page._page_hash = calc_hash("decay")
    for chosen, offered in (("", 0), ("xpos", 1)):
        page.query_params["curves"] = chosen
        page.session_state["sharing"] = True
        page.run()
        assert not page.exception
        assert len(page.get("download_button")) == offered
        said = [caption.value for caption in page.caption]
        assert (texts("en")("download.nothing") in said) == (not offered)


@pytest.mark.parametrize("language", LANGUAGES)
def test_files_are_of_what_is_shown(language, monkeypatch):
    """The figures on paper and their tables follow every control, the axis too."""
    offered = []
    show = downloads.show

    def spy(shown, text):
        offered.append((plain(shown.description), shown.table()))
        show(shown, text)

    monkeypatch.setattr(downloads, "show", spy)
    page = opened(SHORT | {"lang": language})
    moves = {"gamma": 0.5, "stage": "masked", "start": 3, "axis": "log"}
    asked = SHORT | {"gamma": "0.5", "stage": "masked", "start": "3", "axis": "log"}
    page = release(page, **moves)
    looks = [{"difference": "ratio", "colours": "purple_orange"}, {"difference": "weights"}]
    for look in looks:
        page = release(page, **look)
    shown = [SHORT, asked, asked | looks[0], asked | looks[0] | looks[1]]
    assert len(offered) == 2 * len(shown)
    for parameters, figures in zip(
        shown, zip(offered[::2], offered[1::2], strict=True), strict=True
    ):
        state, _ = from_address(parameters)
        experiment, text = state.experiment, texts(language)
        comparison, table = compare(run(experiment), state.difference), curves(experiment)
        logarithmic = state.axis == "log"
        descriptions = (
            score_maps(comparison, text, state.colours),
            decay_curves(table, experiment, text, logarithmic=logarithmic),
        )
        for figure, description, rows in zip(
            figures, descriptions, (comparison.table(), table), strict=True
        ):
            assert figure[0] == plain(description)
            assert figure[1].equals(rows)
        assert (figures[0][1]["query"] >= figures[0][1]["key"]).all()  # no masked cell
    columns = [figures[1].columns[-1] for figures in offered[::2]]
    assert columns == ["difference", "difference", "ratio", "weights_difference"]


def plain(description):
    """A description as text, arrays by their numbers."""
    return json.dumps(asdict(description), default=lambda array: array.tolist())
