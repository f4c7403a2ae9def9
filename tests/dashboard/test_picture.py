"""The picture of the dashboard in a real Chromium: drawn, zoomed, read."""

import numpy as np
import pytest

from tests.dashboard.page import (
    SHORT,
    WHOLE,
    after,
    asked,
    beside,
    boxes,
    choose,
    has_the_colours,
    misfits,
    parameters,
    picture,
    place,
    press,
    reading,
    settled,
    shown_on,
    shows,
)
from tests.dashboard.server import becomes
from tests.pages import part
from xpos_viz import decay_curve, run
from xpos_viz.comparison import compare
from xpos_viz.encoding.steps import GAMMAS
from xpos_viz.texts import LANGUAGES, texts

pytestmark = pytest.mark.browser


def test_three_panels_are_drawn(visit):
    page = visit({})
    shows(page, {})
    pixels = picture(page)
    panels = [pixels[y : y + side, x : x + side, :3] for x, y, side in boxes(pixels)]
    for one, other in ((0, 1), (1, 2), (0, 2)):
        assert (panels[one] != panels[other]).any(-1).mean() > 0.1
    assert all(len(np.unique(panel.reshape(-1, 3), axis=0)) > 50 for panel in panels)
    text = texts("en")
    assert page.locator(".lm-maps").get_attribute("aria-label") == text(
        "livemap.alt",
        names="RoPE (base 100,000), XPos (base 100,000, γ 0.4, B 512)",
        comparison="XPos − RoPE",
        state=text(
            "figure.state", stage=text("figure.stage.scores"), mask=text("figure.mask.causal")
        ),
        start=0,
        stop=1001,
    )
    assert page.get_by_role("heading", name=text("pages.compare.title")).is_visible()
    has_the_colours(page, "light")


@pytest.mark.parametrize("width", [1440, 1000])
def test_controls_show_what_is_drawn_from_the_first_moment(width, visit):
    address = {"name": "chinese", "layer": "16", "head": "5", "gamma": "0.7", "stage": "masked"}
    page = visit(address, width=width)
    shows(page, address)
    assert beside(page, "head").get_attribute("aria-valuetext") == "5"
    assert shown_on(page, "base") == "100,000"
    assert page.get_by_role("radio", name=texts("en")("ui.stages.masked")).is_checked()


def test_tokens_label_the_axes_and_the_readings(visit):
    page = visit({"name": "chinese", "stop": "8"})
    labels = ["位 ½", "位 2/2", "置", "编 ⅓", "编 ⅔", "编 3/3", "码", "告 ½"]
    for token, label in enumerate(labels):
        page.mouse.move(*place(page, 0, token, token))
        named = texts("en")("livemap.token", position=token, token=label)
        assert reading(page)[0].startswith(f"query {named} · key {named} · lag 0")
    [(left, top, side), *_] = boxes(pixels := picture(page))
    ink = pixels[..., :3].sum(-1) + 765 * (pixels[..., 3] < 100) < 500  # a letter, and no ground
    beside = np.array_split(ink[top : top + side, left - 40 : left - 8], len(labels))
    below = np.array_split(
        ink[top + side + 8 : top + side + 40, left : left + side], len(labels), 1
    )
    assert [cells.any() for cells in (*beside, *below)] == [True] * 16


def test_zooming_into_one_panel_moves_all_and_is_kept(visit):
    page = visit(SHORT)
    assert part(page) == WHOLE
    start, end = place(page, 1, 12, 3), place(page, 1, 22, 13)
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=5)
    page.mouse.up()
    zoomed = part(page)
    assert zoomed == pytest.approx([12.5, 3.5, 10], abs=0.2)
    assert misfits(page, SHORT) == [0, 0, 0]  # in all three panels

    moved = SHORT | {"gamma": after(GAMMAS, 0.4)}
    press(page, "gamma")
    shows(page, moved)
    assert part(page) == zoomed
    page.get_by_text(LANGUAGES["zh"], exact=True).click()  # a rerun of the whole page
    becomes(lambda: parameters(page), moved | {"lang": "zh"}, "the address")
    settled(page)
    assert part(page) == zoomed
    page.mouse.dblclick(*place(page, 2, 15, 8))
    assert part(page) == WHOLE


@pytest.mark.parametrize("stage", ["scores", "weights"])
def test_hovering_shows_query_key_lag_and_the_true_values(stage, visit):
    address = SHORT | {"stage": stage}
    page, result = visit(address), run(asked(address))
    tables = [*(measurement.values for measurement in result.measurements), compare(result).values]
    text = texts("en")
    for panel, (m, n) in enumerate(((20, 4), (27, 0), (9, 9))):
        page.mouse.move(*place(page, panel, m, n), steps=3)
        where, values = reading(page)
        query, key = (
            text("livemap.token", position=token, token=result.labels[token]) for token in (m, n)
        )
        assert where == text("livemap.cell", query=query, key=key, lag=m - n)
        assert values == pytest.approx([table[m, n] for table in tables], rel=1e-5, abs=1e-5)
    page.mouse.move(*place(page, 0, 4, 20), steps=3)  # a masked cell has nothing to read
    assert reading(page)[1] == []
    assert text("livemap.masked") in page.locator(".lm-readout").inner_text()


def test_the_picture_has_its_own_controls(visit):
    page = visit(SHORT)
    page.get_by_text(texts("en")("ui.stages.weights"), exact=True).click()
    shows(page, address := SHORT | {"stage": "weights"})
    choose(page, "mask", "none")
    shows(page, address := address | {"mask": "none"})
    assert texts("en")("figure.growing") in page.locator(".lm-notes").inner_text()
    page.get_by_text(texts("en")("ui.stages.scores"), exact=True).click()
    shows(page, address := SHORT | {"mask": "none"})
    for difference in ("ratio", "weights"):
        choose(page, "difference", difference)
        shows(page, address := address | {"difference": difference}, difference)
    choose(page, "axis", "log")
    shows(page, address := address | {"axis": "log"}, "weights")
    graph = page.locator("canvas.lm-graph").last
    box = graph.bounding_box()
    graph.hover(position={"x": box["width"] / 2, "y": 100})
    where, values = reading(page)
    lag = int(where.removeprefix("lag "))
    assert 4 <= lag <= 6  # √27, where a linear axis has 13
    expected = [float(decay_curve(encoding, lag)) for encoding in asked(address).encodings]
    assert values == pytest.approx(expected, rel=1e-5)
