"""The picture of the live map: its colours and its values."""

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from tests.livemap.page import (
    CORE,
    LONG,
    SHORT,
    at,
    described,
    expect_reading,
    picture,
    point,
    reading,
)
from tests.pages import channels, drawn, part, pixels
from xpos_viz import attention_scores, run
from xpos_viz.comparison import compare
from xpos_viz.figures.words import rounded
from xpos_viz.inputs import Random
from xpos_viz.look import Look
from xpos_viz.pooling import robust_limit
from xpos_viz.texts import texts
from xpos_viz.theme import CLIPPED, INKS, LINES, SCALES

pytestmark = pytest.mark.browser


def test_it_is_sharp_on_a_dense_screen(visit):
    page = visit(described(SHORT), device_scale_factor=2)
    pixels = picture(page)
    assert pixels.shape[1] == 2 * page.locator(".lm-maps").evaluate("(e) => e.clientWidth")


def test_the_colour_under_the_pointer_is_that_of_the_value_read(visit):
    page = visit(described(SHORT))
    pixels, result = picture(page), run(SHORT)
    limits = (result.limit, result.limit, compare(result).limit)
    stops = np.array([channels(code) for code in SCALES["diverging"]]).T
    seen = set()
    for x, y in product(range(120, 980, 95), (200, 310)):
        point(page, x + 0.5, y + 0.5)  # the middle of a pixel
        _, values = reading(page)
        if not values:
            continue
        panel = int((x - 90) / 300)
        share = (values[panel] / limits[panel] + 1) / 2
        wanted = [np.interp(share, np.linspace(0, 1, 7), channel) for channel in stops]
        if not 0 <= share <= 1:
            wanted = channels(CLIPPED["diverging"][share > 1])
        assert np.abs(pixels[y, x, :3] - wanted).max() <= 3
        seen.add(panel)
    assert seen == {0, 1, 2}


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_masked_cells_have_the_colour_of_the_theme(mode, visit):
    page = visit(described(SHORT, mode=mode))
    pixels = picture(page)
    share = (pixels[..., :3] == channels(INKS[mode].masked)).all(-1).mean()
    assert 0.15 < share < 0.4  # nearly half of each panel


def test_the_theme_of_the_host_is_followed(visit):
    page = visit(described(SHORT))
    style = "document.documentElement.style.setProperty"
    page.evaluate(f"{style}('--st-text-color', '#fafafa'); window.handle.update({{}})")
    drawn(page)
    seen = picture(page)[..., :3]
    assert (seen == channels(INKS["dark"].masked)).all(-1).mean() > 0.15
    assert (seen == channels("#fafafa")).all(-1).any()


def test_one_token_has_a_point_on_its_curve_and_no_limit_of_a_difference(visit):
    alone = replace(SHORT, inputs=Random(1))
    page = visit(described(alone))
    first = re.escape(rounded(run(alone).limit))
    (note,) = page.locator(".lm-note").all_inner_texts()
    assert re.fullmatch(rf"Colours end .* {first}; the difference is 0 in every cell\.", note)
    graph = pixels(page.locator("canvas.lm-graph").last)[60:, :120, :3]
    assert (graph == channels(LINES[1])).all(-1).any()


# Values


@pytest.mark.parametrize("stage", ["scores", "scaled", "masked", "weights"])
def test_values_under_the_pointer_are_those_of_the_core(stage, visit):
    experiment = at(SHORT, stage=stage)
    page = visit(described(experiment))
    read = set()
    for x, y in ((150, 250), (170, 280), (480, 270), (800, 290)):
        point(page, x, y)
        m, n, _ = expect_reading(page, experiment)
        read.add((m, n))
    assert len(read) > 2


@pytest.mark.parametrize("mask", ["causal", "none"])
def test_block_means_are_those_of_the_core(mask, visit):
    experiment = at(LONG, mask=mask)
    page = visit(described(experiment))
    for x, y in ((150, 250), (480, 270), (800, 290)):
        point(page, x, y)
        m, _, _ = expect_reading(page, experiment)
        assert m[1] - m[0] == 2


@pytest.mark.parametrize("mask", ["causal", "none"])
@pytest.mark.parametrize("stage", ["scores", "masked", "weights"])
def test_colours_end_where_those_of_the_figures_do(stage, mask, visit):
    experiment = at(SHORT, stage=stage, mask=mask)
    page, result, text = visit(described(experiment)), run(experiment), texts("en")
    limit, difference = rounded(result.limit), rounded(compare(result).limit)
    notes = page.locator(".lm-note").all_inner_texts()
    assert text("figure.limits", limit=limit, difference=difference) in notes
    assert (text("figure.growing") in notes) == (mask == "none")
    assert (text("figure.masked") in notes) == (stage == "masked" and mask == "causal")


def test_where_xpos_grows_sets_no_limit(visit):
    """Without a mask the cells ahead are many times larger, also those of block means."""
    for experiment in (at(SHORT, mask="none"), at(LONG, mask="none")):
        result = run(experiment)
        everywhere = robust_limit(*(m.values for m in result.measurements))
        assert rounded(everywhere) != rounded(result.limit)
        limits = {"limit": rounded(result.limit), "difference": rounded(compare(result).limit)}
        notes = visit(described(experiment)).locator(".lm-note").all_inner_texts()
        assert texts("en")("figure.limits", **limits) in notes


def test_a_ratio_is_that_of_the_shown_values(visit):
    page = visit(described(LONG, look=Look(difference="ratio")))
    point(page, 150, 280)
    _, (first, last, ratio) = reading(page)
    assert ratio == pytest.approx(abs(last) / abs(first), rel=CORE)
    assert "ratio is that of the shown means" in page.locator(".lm-notes").inner_text()


def test_zooming_in_refines_to_single_cells(visit):
    page = visit(described(LONG))
    point(page, 150, 280)
    expect_reading(page, LONG)
    page.mouse.down()
    box = page.locator(".lm-maps").bounding_box()
    page.mouse.move(box["x"] + 220, box["y"] + 330, steps=3)
    page.mouse.up()
    assert part(page)[2] < 300
    point(page, 200, 200)
    expect_reading(page, at(LONG, cells=600))
    page.mouse.dblclick(box["x"] + 200, box["y"] + 200)
    assert part(page) == [0, 0, 600]


def test_single_cells_are_reached_far_from_the_diagonal(visit):
    experiment = replace(LONG, inputs=Random(1500, keys="independent"))
    page = visit(described(experiment))
    page.locator(".lm-maps").scroll_into_view_if_needed()
    box = page.locator(".lm-maps").bounding_box()
    page.mouse.click(box["x"] + 90, box["y"] + 320)
    for _ in range(15):
        page.keyboard.press("+")
    assert part(page)[2] < 64
    page.mouse.move(box["x"] + 150, box["y"] + 200)
    drawn(page)
    place, values = reading(page)
    [(m, n)] = re.findall(r"^query (\d+) · key (\d+) ·", place)
    vectors = experiment.inputs.load(64)
    scores = [
        float(
            attention_scores(
                vectors.q[[int(m)]],
                vectors.k[[int(n)]],
                encoding,
                query_positions=[int(m)],
                key_positions=[int(n)],
            )
        )
        for encoding in experiment.encodings
    ]
    assert int(m) - int(n) > 1000
    assert values == pytest.approx([*scores, scores[1] - scores[0]], rel=CORE, abs=1e-4)
