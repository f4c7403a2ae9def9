"""How finely the live map is drawn, and what it says where there is no number."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from tests.livemap.page import (
    LONG,
    SHORT,
    at,
    described,
    ends,
    expect_reading,
    picture,
    point,
    reading,
)
from tests.pages import channels, drawn, grab
from xpos_viz import Experiment, run, xpos
from xpos_viz.comparison import compare
from xpos_viz.figures.words import factors, rounded
from xpos_viz.inputs import Random
from xpos_viz.look import Look
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.theme import CLIPPED, INKS, PALETTES

LATER = replace(LONG, inputs=Random(1500, keys="independent"))
FAR = (150, 300)  # pixels: below the diagonal of the first panel
SILENT = 5  # a query without content


def single(experiment):
    """The same experiment with cells of one token."""
    return at(experiment, cells=experiment.inputs.tokens)


def finished(page):
    """Wait until the maps are as fine as they become."""
    page.wait_for_selector(".lm-root[data-state=ready]")
    drawn(page)


def zoomed(page, x, y, pixels):
    """Drag a box over the maps, and point into what it shows."""
    point(page, x, y)
    box = page.locator(".lm-maps").bounding_box()
    page.mouse.down()
    page.mouse.move(box["x"] + x + pixels, box["y"] + y + pixels, steps=3)
    page.mouse.up()
    point(page, *FAR)
    finished(page)


def limits(experiment):
    """What the notes say of the core's limits."""
    result = run(experiment)
    limit, difference = rounded(result.limit), rounded(compare(result).limit)
    return texts("en")("figure.limits", limit=limit, difference=difference)


# Cells and pixels


@pytest.mark.browser
@pytest.mark.parametrize("mask", ["causal", "none"])
@pytest.mark.parametrize(
    ("width", "density", "block"), [(480, 1, 2), (1000, 1, 3), (1000, 2, 2), (2100, 1, 1)]
)
def test_a_cell_is_as_many_tokens_as_pixels_need(width, density, block, mask, visit):
    """Of 600 tokens, on panels of 400, 280, 560 and 650 device pixels."""
    experiment = at(LONG, mask=mask)
    page = visit(described(experiment), width=width, device_scale_factor=density)
    finished(page)
    point(page, *FAR)
    m, _, _ = expect_reading(page, at(experiment, cells=600 // block))
    assert m[1] - m[0] == block - 1


@pytest.mark.browser
@pytest.mark.parametrize("stage", ["scores", "weights"])
@pytest.mark.parametrize("mask", ["causal", "none"])
def test_colours_do_not_follow_the_size_of_the_page(stage, mask, visit):
    """They end where the core's blocks say, and files with them."""
    tokens = Random(512, keys="independent")
    experiment = at(replace(LONG, inputs=tokens), stage=stage, mask=mask)
    for width in (1000, 1900):
        page = visit(described(experiment), width=width)
        finished(page)
        assert limits(experiment) in page.locator(".lm-note").all_inner_texts()
        zoomed(page, 200, 200, 60)
        assert limits(experiment) in page.locator(".lm-note").all_inner_texts()
        expect_reading(page, single(experiment))


@pytest.mark.browser
def test_what_is_coarse_while_dragging_is_fine_at_rest(visit):
    experiment = at(LONG, mask="none")
    page = visit(described(experiment), width=2100)
    finished(page)
    page.locator(".lm-maps").scroll_into_view_if_needed()
    box = page.locator(".lm-maps").bounding_box()
    page.mouse.click(box["x"] + 180, box["y"] + 400)
    m, _, _ = expect_reading(page, single(experiment))
    assert m[0] == m[1]
    grab(page, "gamma", 0.9)
    _, _, during = reading(page)[0].partition("query ")
    first, last = ends(during.split()[0])
    assert last - first + 1 == run(experiment).block == 3
    page.mouse.up()
    finished(page)
    [commit] = page.evaluate("window.events")
    rope_, xpos_ = experiment.encodings
    moved = replace(experiment, encodings=(rope_, xpos_.replace(**commit["changes"])))
    assert expect_reading(page, single(moved))[0] == m


@pytest.mark.browser
def test_a_part_far_from_the_diagonal_is_fine_while_dragging(visit):
    page = visit(described(LATER))
    zoomed(page, 80, 290, 30)
    box = page.locator(".lm-maps").bounding_box()
    page.mouse.click(box["x"] + 150, box["y"] + 200)
    m, n, _ = expect_reading(page, single(LATER))
    assert m[0] - n[0] > 900
    grab(page, "gamma", 0.9)
    gamma = float(page.locator("input[data-key=gamma]").get_attribute("aria-valuetext"))
    rope_, xpos_ = LATER.encodings
    moved = replace(LATER, encodings=(rope_, xpos_.replace(gamma=gamma)))
    assert expect_reading(page, single(moved))[:2] == (m, n)
    page.mouse.up()


# Weights of long texts


@pytest.mark.browser
@pytest.mark.parametrize("mask", ["causal", "none"])
def test_parts_of_long_weights_are_single_cells(mask, visit):
    experiment = at(LATER, stage="weights", mask=mask)
    page = visit(described(experiment))
    zoomed(page, 80, 290, 40)
    m, n, _ = expect_reading(page, single(experiment))
    assert m[0] == m[1]
    assert m[0] - n[0] > 900


@pytest.mark.browser
def test_long_weights_are_computed_here_where_no_host_sends_them(visit):
    experiment = at(LATER, stage="weights", cells=375)
    content = described(experiment)
    own = {key: value for key, value in content.items() if not key.startswith("stream")}
    page = visit(own, width=1400)
    finished(page)
    point(page, *FAR)
    m, _, _ = expect_reading(page, experiment)
    assert m[1] - m[0] == 3
    assert limits(experiment) in page.locator(".lm-note").all_inner_texts()


@pytest.mark.browser
def test_long_weights_of_the_whole_window_follow_the_pixels(visit):
    experiment = at(LONG, stage="weights", cells=100)
    page = visit(described(experiment))
    finished(page)
    point(page, *FAR)
    m, _, _ = expect_reading(page, at(experiment, cells=200))
    assert m[1] - m[0] == 2
    assert limits(experiment) in page.locator(".lm-note").all_inner_texts()


WRITTEN = """() => {
  window.written = [];
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (word, ...place) {
    window.written.push(word);
    return fillText.call(this, word, ...place);
  };
}"""


@pytest.mark.browser
@pytest.mark.parametrize("scale_base", [512.0, 4096.0])
def test_a_bar_of_a_ratio_is_written_as_on_paper(scale_base, visit):
    """Also where all ratios are within a doubling."""
    pair = (SHORT.encodings[0], SHORT.encodings[1].replace(scale_base=scale_base))
    experiment = replace(SHORT, encodings=pair)
    limit = compare(run(experiment), "ratio").limit
    assert limit < 1
    page = visit(described(experiment, look=Look(difference="ratio")))
    page.evaluate(WRITTEN)
    page.set_viewport_size({"width": 900, "height": 800})
    drawn(page)
    words = page.evaluate("written")
    last = len(words) - words[::-1].index("ratio of the shown means") - 1
    ticks = list(factors(limit).values())
    assert words[last - len(ticks) : last] == ticks


# Where there is no number


def silenced(experiment, language="en", **look):
    """A payload whose query SILENT has no content, so that its scores are 0."""
    content = described(experiment, language, look=Look(**look))
    q = np.frombuffer(content["q"], "<f4").reshape(content["tokens"], -1).copy()
    q[SILENT] = 0
    return content | {"q": q.tobytes()}


def unknown(page):
    """The pixels of the maps that have the colour of no number."""
    return (picture(page)[..., :3] == channels(INKS["light"].unknown)).all(-1)


@pytest.mark.browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_by_nothing_is_not_drawn_or_read_as_masked(language, visit):
    page, text = visit(silenced(SHORT, language, difference="ratio")), texts(language)
    rows, columns = np.nonzero(unknown(page))
    cell = (columns.max() + 1 - columns.min()) / (SILENT + 1)
    assert rows.max() + 1 - rows.min() == pytest.approx(cell, abs=1)
    assert columns.min() > 690  # of the last panel alone
    point(page, int(columns.mean()), int(rows.mean()))
    values = page.locator(".lm-value").all_inner_texts()
    sentence = text("livemap.no_number", terms="0 / 0")
    assert values == ["0", "0", sentence]
    page.wait_for_function(
        "(said) => document.querySelector('[role=status]').textContent.endsWith(said)",
        arg=f"|XPos| / |RoPE| {sentence}",
    )
    note = text("figure.unknown", count=SILENT + 1)
    assert note in page.locator(".lm-note").all_inner_texts()
    point(page, int(columns.max() + 2 * cell), int(rows.mean()))
    assert page.locator(".lm-numbers").inner_text().strip() == text("livemap.masked")


@pytest.mark.browser
def test_differences_have_numbers_where_ratios_have_none(visit):
    page = visit(silenced(SHORT))
    assert not unknown(page).any()
    notes = page.locator(".lm-notes").inner_text()
    assert "no number" not in notes


@pytest.mark.browser
def test_infinity_less_infinity_has_no_number(visit):
    """Ahead, scores of both encodings are beyond what a number can hold."""
    encodings = (xpos(64, scale_base=0.2), xpos(64, scale_base=0.1))
    experiment = at(Experiment(encodings, Random(200, keys="independent")), mask="none")
    page = visit(described(experiment), width=1000)
    rows, columns = np.nonzero(unknown(page))
    assert len(rows) > 500
    assert columns.min() > 690
    point(page, int(columns.max()) - 4, 62 + 6)
    first, last, difference = page.locator(".lm-value").all_inner_texts()
    same = first == last
    assert {first, last} <= {"∞", "−∞"}
    assert difference == (f"no number: {last} − {first}" if same else last)


def test_its_colour_is_like_no_other():
    code = {ink.unknown for ink in INKS.values()}
    scales = [*(p.scales for p in PALETTES.values()), *(p.clipped for p in PALETTES.values())]
    others = [c for scale, kind in product(scales, CLIPPED) for c in scale[kind]]
    others += [getattr(ink, name) for ink in INKS.values() for name in ("page", "masked", "faint")]
    for own, other in product(code, others):
        assert np.linalg.norm(np.subtract(channels(own), channels(other))) > 120, (own, other)
