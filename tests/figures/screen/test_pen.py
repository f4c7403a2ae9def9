"""Figures for the screen, as the JSON that the browser gets."""

import json
import re
from itertools import pairwise

import numpy as np
import plotly.io as pio
import pytest
from PIL import ImageColor

from tests import drawn, kinds
from xpos_viz import Experiment, nope, rope, xpos
from xpos_viz.comparison import compare
from xpos_viz.experiment import STAGES
from xpos_viz.figures.compare import decay_curves
from xpos_viz.figures.plotly_pen import draw, fit, sketch
from xpos_viz.figures.words import rounded
from xpos_viz.inputs import Expectation, Random, Sample
from xpos_viz.results import curves
from xpos_viz.texts import texts
from xpos_viz.theme import CLIPPED, DASHES, INKS, LINES, PALETTES, SCALES, Scale

TRIPLE = (nope(8), rope(8), xpos(8, scale_base=16.0))
WIDTHS = (480, 960, 1400)


def axes(spec, letter):
    """The axes of one direction, in the order of their panels."""
    names = [name for name in spec["layout"] if name.startswith(f"{letter}axis")]
    return [spec["layout"][name] for name in sorted(names)]


def place(coloraxis, value):
    """Where a value lies on its scale, from 0 to 1."""
    low, high = coloraxis["cmin"], coloraxis["cmax"]
    return min(max((value - low) / (high - low), 0.0), 1.0)


def colour(coloraxis, value):
    """The colour that a value has, by the rule of Plotly: linear between the stops."""
    at = place(coloraxis, value)
    for (low, first), (high, last) in pairwise(coloraxis["colorscale"]):
        if low < high and low <= at <= high:
            share = (at - low) / (high - low)
            ends = [np.array(ImageColor.getrgb(end)) for end in (first, last)]
            return tuple(ends[0] + share * (ends[1] - ends[0]))
    raise AssertionError(f"the scale has a gap at {at}")


def near(colour, code):
    """Whether a colour is that of a code, to the eye."""
    return np.abs(np.array(colour) - ImageColor.getrgb(code)).max() < 4


# Cells


@pytest.mark.parametrize("mask", ["causal", "none"])
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(
    ("inputs", "encodings", "cells"),
    [(Sample("chinese", 8, 3), drawn.PAIR, 256), (Random(40), TRIPLE, 11)],
    ids=["sample", "random"],
)
def test_cells_are_the_values_of_the_run(inputs, encodings, cells, stage, mask):
    result, maps = drawn.maps(inputs, encodings, stage=stage, mask=mask, cells=cells)
    spec = drawn.spec(draw(maps))
    shown = [*(measurement.values for measurement in result.measurements), compare(result).values]
    assert len(spec["data"]) == len(shown)
    for trace, values in zip(spec["data"], shown, strict=True):
        assert trace["type"] == "heatmap"
        z = drawn.array(trace["z"])
        assert z.dtype == np.float32
        assert np.array_equal(z, values.astype(np.float32), equal_nan=True)
        assert np.array_equal(np.isnan(z), ~result.seen)
        assert np.array_equal(drawn.array(trace["x"]), result.positions)
        assert np.array_equal(drawn.array(trace["y"]), result.positions)


def test_masked_cells_are_left_out_and_have_no_colour_of_a_value():
    result, maps = drawn.maps()
    spec = drawn.spec(draw(maps))
    assert not result.seen.all()
    for trace in spec["data"]:
        assert trace["hoverongaps"] is False
        assert "connectgaps" not in trace
    ground = np.array(ImageColor.getrgb(spec["layout"]["plot_bgcolor"]))
    for name in ("coloraxis", "coloraxis2"):
        axis = spec["layout"][name]
        for value in np.linspace(axis["cmin"], axis["cmax"], 500):
            assert np.abs(colour(axis, value) - ground).max() > 12


def test_values_beyond_single_precision_are_sent_in_double():
    values = [[1.0, 1e200], [-1e39, np.nan]]
    (trace,) = drawn.spec(draw(drawn.one_panel(values)))["data"]
    assert np.array_equal(drawn.array(trace["z"]), values, equal_nan=True)


def test_infinite_values_are_drawn_as_the_largest_number():
    """JSON and Plotly have no infinity: a cell would be left out like a masked one."""
    values = [[np.inf, -np.inf], [np.nan, 1.0]]
    spec = drawn.spec(draw(drawn.one_panel(values)))
    (trace,) = spec["data"]
    largest = np.finfo(np.float64).max
    assert np.array_equal(
        drawn.array(trace["z"]), [[largest, -largest], [np.nan, 1.0]], equal_nan=True
    )
    axis = spec["layout"]["coloraxis"]
    assert near(colour(axis, largest), CLIPPED["diverging"][1])
    assert near(colour(axis, -largest), CLIPPED["diverging"][0])


def test_a_map_that_grows_beyond_float64_is_drawn():
    steep = (rope(8), xpos(8, scale_base=0.25, gamma=1e-3))
    result, maps = drawn.maps(Expectation(300), steep, mask="none", cells=300)
    assert np.isinf(result.measurements[1].values).any()
    spec = drawn.spec(draw(maps))
    assert drawn.array(spec["data"][0]["z"]).dtype == np.float32
    for trace in spec["data"][1:]:
        z = drawn.array(trace["z"])
        assert np.isfinite(z).all()
        assert abs(z).max() == np.finfo(np.float64).max


# Colours


@pytest.mark.parametrize("stage", STAGES)
def test_compared_panels_share_their_limits(stage):
    result, maps = drawn.maps(stage=stage)
    spec = drawn.spec(draw(maps))
    assert [trace["coloraxis"] for trace in spec["data"]] == [
        "coloraxis",
        "coloraxis",
        "coloraxis2",
    ]
    for trace in spec["data"]:
        assert not {"zmin", "zmax", "zauto", "colorscale"} & trace.keys()
    first, second = spec["layout"]["coloraxis"], spec["layout"]["coloraxis2"]
    for axis, limit in ((first, result.limit), (second, compare(result).limit)):
        assert limit < axis["cmax"] < 1.01 * limit
    assert second["cmin"] == -second["cmax"]
    assert first["cmin"] == (0 if stage == "weights" else -first["cmax"])


@pytest.mark.parametrize("scale", ["diverging", "sequential"])
@pytest.mark.parametrize("limit", [1.0, 3e-7, 4e5])
def test_colours_mean_something(scale, limit):
    """White at zero; the scale ends at the limit; beyond it begins another colour."""
    maps = drawn.one_panel([[0.0]], limit=limit, scale=scale)
    axis = drawn.spec(draw(maps))["layout"]["coloraxis"]
    assert near(colour(axis, 0.0), "#ffffff")
    assert near(colour(axis, 0.999 * limit), SCALES[scale][-1])
    assert near(colour(axis, 1.001 * limit), CLIPPED[scale][1])
    assert near(colour(axis, 1e9 * limit), CLIPPED[scale][1])
    if scale == "diverging":
        assert near(colour(axis, -0.999 * limit), SCALES[scale][0])
        assert near(colour(axis, -1.001 * limit), CLIPPED[scale][0])
        half = [colour(axis, sign * limit / 3) for sign in (-1, 1)]
        assert near(half[0], SCALES[scale][2])
        assert near(half[1], SCALES[scale][4])


@pytest.mark.parametrize("stage", ["scores", "weights"])
def test_only_what_lies_beyond_the_limit_is_marked_as_clipped(stage):
    """The limit itself is a value of a cell, and within the scale."""
    result, maps = drawn.maps(stage=stage)
    spec = drawn.spec(draw(maps))
    for trace, limit in zip(spec["data"][1:], (result.limit, compare(result).limit), strict=True):
        axis = spec["layout"][trace["coloraxis"]]
        stops = [stop for stop, code in axis["colorscale"] if code == axis["colorscale"][-1][1]]
        z = drawn.array(trace["z"])[result.seen].astype(np.float64)
        clipped = np.array([place(axis, abs(value)) > stops[0] for value in z])
        assert not clipped[abs(z) <= limit].any()
        assert clipped[abs(z) > 1.001 * limit].all()


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_ink_of_a_mode_and_no_template(mode):
    _, maps = drawn.maps()
    spec, ink = drawn.spec(draw(maps, mode=mode)), INKS[mode]
    layout = spec["layout"]
    assert layout["paper_bgcolor"] == ink.page
    assert layout["plot_bgcolor"] == ink.masked
    assert layout["font"]["color"] == ink.text
    assert layout["hoverlabel"]["bgcolor"] == ink.page
    # Plotly writes an empty template as a trace type without any style
    assert layout["template"] == {"data": {"scatter": [{"type": "scatter"}]}}
    other = drawn.spec(draw(maps, mode="light" if mode == "dark" else "dark"))
    assert spec["data"] == other["data"]
    assert json.dumps(layout).count(ink.page) > 1
    assert INKS["light" if mode == "dark" else "dark"].text not in json.dumps(layout)


@pytest.mark.parametrize("colours", PALETTES)
@pytest.mark.parametrize("stage", ["scores", "weights"])
def test_colours_are_those_that_were_chosen(stage, colours):
    palette = PALETTES[colours]
    layout = drawn.spec(draw(drawn.maps(stage=stage, colours=colours)[1]))["layout"]
    scales: tuple[Scale, Scale] = ("sequential" if stage == "weights" else "diverging", "diverging")
    for name, scale in zip(("coloraxis", "coloraxis2"), scales, strict=True):
        codes = [code for _, code in layout[name]["colorscale"]]
        below, above = palette.clipped[scale]
        before = [below] * 2 if scale == "diverging" else []
        assert codes == [*before, *palette.scales[scale], above, above]


def test_a_ratio_is_written_as_factors():
    values = [[0.0, 1.0, 2.0], [-1.0, np.nan, -20.0], [np.inf, -np.inf, 0.5]]
    spec = drawn.spec(draw(drawn.one_panel(values, limit=2.5, powers=True)))
    bar = spec["layout"]["coloraxis"]["colorbar"]
    assert drawn.array(bar["tickvals"]).tolist() == [-2, -1, 0, 1, 2]
    assert bar["ticktext"] == ["1/4", "1/2", "1", "2", "4"]
    (trace,) = spec["data"]
    assert trace["hovertemplate"].startswith("<b>Map</b>  %{text}<br>")
    words = drawn.array(trace["text"])[~np.isnan(values)].tolist()
    assert words == ["1", "2", "4", "0.5", "9.54\u00a0×\u00a010⁻⁷", "∞", "0", "1.41421"]
    plain = drawn.spec(draw(drawn.one_panel(values, limit=2.5)))
    assert plain["layout"]["coloraxis"]["colorbar"]["tickmode"] == "auto"
    assert "%{text}" in plain["data"][0]["hovertemplate"]  # ∞ is sent as 1.8 × 10³⁰⁸


@pytest.mark.parametrize(
    ("limit", "value"),
    [(64.0, "%{z:,.2f}"), (1.0, "%{z:,.3f}"), (0.168, "%{z:,.4f}"), (5e6, "%{z:,.0f}")],
)
def test_values_are_read_with_the_decimals_that_colours_can_tell_apart(limit, value):
    (trace,) = drawn.spec(draw(drawn.one_panel([[limit, 3e-7], [0.0, 1.0]], limit=limit)))["data"]
    assert trace["hovertemplate"].startswith(f"<b>Map</b>  {value}<br>")
    assert "text" not in trace


@pytest.mark.parametrize("values", [[[3e-7, -0.5], [1e-5, 0.0]], [[3e12, -0.5], [np.nan, 0.0]]])
def test_values_that_are_tiny_or_huge_are_read_by_powers_of_ten(values):
    limit = 1e-5 if values[1][0] == 1e-5 else 1.0
    (trace, *_) = drawn.spec(draw(drawn.one_panel(values, limit=limit)))["data"]
    assert trace["hovertemplate"].startswith("<b>Map</b>  %{text}<br>")
    first, second = drawn.array(trace["text"])[0]
    assert (first, second) == (rounded(values[0][0]), "−0.5")
    assert "10" in first
    assert "e" not in first


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_cells_without_a_value_are_neither_masked_nor_a_value(mode):
    values, seen = [[0.5, np.nan], [np.nan, 0.5]], [[True, False], [True, True]]
    spec = drawn.spec(draw(drawn.one_panel(values, seen=seen), mode=mode))
    own, mark = spec["data"]
    assert np.array_equal(drawn.array(own["z"]), values, equal_nan=True)
    assert np.array_equal(np.isnan(drawn.array(mark["z"])), [[True, True], [False, True]])
    assert {code for _, code in mark["colorscale"]} == {INKS[mode].unknown}
    assert mark["showscale"] is False
    assert mark["hovertemplate"].startswith("<b>Map</b>  –<br>")
    assert (mark["xaxis"], mark["yaxis"]) == (own["xaxis"], own["yaxis"])
    assert not near(ImageColor.getrgb(INKS[mode].unknown), INKS[mode].masked)


# Words


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("mask", ["causal", "none"])
@pytest.mark.parametrize("stage", STAGES)
def test_titles_name_encoding_parameters_stage_and_mask(stage, mask, language):
    _, maps = drawn.maps(language=language, stage=stage, mask=mask)
    spec, text = drawn.spec(draw(maps)), texts(language)
    words = [re.sub(r"<(?!br)[^>]*>", "", note["text"]) for note in spec["layout"]["annotations"]]
    *lines, shared, own = words
    comma, base = {"en": (", ", "base"), "zh": ("，", "底数")}[language]
    state = drawn.state(stage, mask, language)
    assert [line.split("<br>") for line in lines] == [
        ["RoPE", f"{base} 100,000", state],
        ["XPos", f"{base} 100,000{comma}γ 0.4{comma}B 24", state],
        ["XPos − RoPE", f"{base} 100,000{comma}γ 0.4{comma}B 24", state],
    ]
    unit = text(f"figure.value.{stage}")
    assert (shared, own) == (unit, text("figure.comparison_value.plain", value=unit))
    assert all(axis["title"]["text"] == text("figure.keys") for axis in axes(spec, "x"))
    down = [axis["title"]["text"] for axis in axes(spec, "y")]
    assert down == [text("figure.queries"), "", ""]


STRANGE = ("<b>", "&", "&amp;", "a", "a", "</span>", "$x$", "%{z}", "<a href='x'>x</a>", "½ \"'")
SAFE = (
    *("&lt;b&gt;", "&amp;", "&amp;amp;", "a", "a", "&lt;/span&gt;", "$x$", "%{z}"),
    *("&lt;a href='x'&gt;x&lt;/a&gt;", "½ \"'"),
)


def test_labels_stay_text():
    values = np.zeros((len(STRANGE), len(STRANGE)))
    spec = drawn.spec(draw(drawn.one_panel(values, labels=STRANGE)))
    for axis in (*axes(spec, "x"), *axes(spec, "y")):
        assert tuple(axis["ticktext"]) == SAFE
    (trace,) = spec["data"]
    words = drawn.array(trace["customdata"])
    assert words[0, 1] == "m 0 &lt;b&gt; · n 1 &amp; · Δ −1"
    assert not re.search(r"<(?!br)", "".join(words.ravel()))


def test_equal_tokens_stay_apart():
    """Positions are numbers, and tokens only their tick texts."""
    spec = drawn.spec(draw(drawn.one_panel(np.zeros((3, 3)), labels=("a", "a", "a"))))
    (trace,) = spec["data"]
    assert drawn.array(trace["x"]).tolist() == [0, 1, 2]
    for axis in (*axes(spec, "x"), *axes(spec, "y")):
        assert axis.get("type", "linear") == "linear"
        assert drawn.array(axis["tickvals"]).tolist() == [0, 1, 2]
        assert axis["ticktext"] == ["a", "a", "a"]


@pytest.mark.parametrize("width", WIDTHS)
def test_many_tokens_are_thinned_and_stay_in_step(width):
    result, maps = drawn.maps()
    spec = drawn.spec(draw(maps, width=width))
    for axis in (*axes(spec, "x"), *axes(spec, "y")):
        at = drawn.array(axis["tickvals"]).astype(int)
        assert 2 <= len(at) <= 80
        assert axis["ticktext"] == [result.labels[index] for index in at]


@pytest.mark.parametrize("labelled", [True, False])
def test_the_read_out_names_query_key_lag_and_value(labelled):
    inputs = Sample("pronoun", 8, 2) if labelled else Random(9)
    encodings = drawn.PAIR if labelled else TRIPLE
    result, maps = drawn.maps(inputs, encodings)
    for trace in drawn.spec(draw(maps))["data"]:
        template, cells = trace["hovertemplate"], drawn.array(trace["customdata"])
        assert "%{z" in template
        assert trace["name"] in template
        assert cells.shape == result.lags.shape
        if labelled:
            assert "%{customdata}" in template
            trophy, the = result.labels[1], result.labels[0]
            assert cells[1, 0] == f"query 1 {trophy} · key 0 {the} · lag 1"
        else:
            assert "query %{y:,} · key %{x:,} · lag %{customdata:,}" in template
            assert np.array_equal(cells, np.where(result.seen, result.lags, 0))


def test_lags_of_blocks_are_whole():
    """Also where the last block is not full."""
    result, maps = drawn.maps(Random(11), TRIPLE, cells=3)
    assert result.lags[2, 0] == 8
    for trace in drawn.spec(draw(maps))["data"]:
        assert np.array_equal(
            drawn.array(trace["customdata"]), np.where(result.seen, result.lags, 0)
        )


# Axes


@pytest.mark.parametrize("stacked", [False, True])
@pytest.mark.parametrize(("start", "stop", "cells"), [(0, 40, 256), (5, 40, 8), (3, 4, 9)])
def test_axes_follow_each_other_and_run_down(start, stop, cells, stacked):
    result, maps = drawn.maps(Random(40), TRIPLE, start=start, stop=stop, cells=cells)
    spec = drawn.spec(draw(maps, stacked=stacked))
    across, down = axes(spec, "x"), axes(spec, "y")
    assert [axis.get("matches") for axis in across] == [None, "x", "x", "x"]
    assert [axis.get("matches") for axis in down] == [None, "y", "y", "y"]
    assert down[0]["scaleanchor"] == "x"
    assert down[0].get("scaleratio", 1) == 1
    half = result.block / 2
    low, high = result.positions[0] - half, result.positions[-1] + half
    assert all(axis["range"] == [low, high] for axis in across)
    assert all(axis["range"] == [high, low] for axis in down)
    assert [trace["xaxis"] for trace in spec["data"]] == ["x", "x2", "x3", "x4"]
    assert [trace["yaxis"] for trace in spec["data"]] == ["y", "y2", "y3", "y4"]
    for place, (x, y) in enumerate(zip(across, down, strict=True), 1):
        number = "" if place == 1 else place
        assert (x["anchor"], y["anchor"]) == (f"y{number}", f"x{number}")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("stacked", [False, True])
def test_panels_are_squares_that_do_not_overlap(width, stacked):
    _, maps = drawn.maps()
    spec = drawn.spec(draw(maps, width=width, stacked=stacked))
    layout, margin = spec["layout"], spec["layout"]["margin"]
    inner = (
        width - margin["l"] - margin["r"],
        layout["height"] - margin["t"] - margin["b"],
    )
    frames = [
        (x["domain"], y["domain"]) for x, y in zip(axes(spec, "x"), axes(spec, "y"), strict=True)
    ]
    for x, y in frames:
        assert 0 <= x[0] < x[1] <= 1
        assert 0 <= y[0] < y[1] <= 1
        assert (x[1] - x[0]) * inner[0] == pytest.approx((y[1] - y[0]) * inner[1], abs=1)
    for (x, y), (next_x, next_y) in pairwise(frames):
        if stacked:
            assert x == next_x
            assert next_y[1] < y[0]
        else:
            assert y == next_y
            assert x[1] < next_x[0]


@pytest.mark.parametrize("stacked", [False, True])
def test_titles_stand_over_their_panels_and_bars_below(stacked):
    _, maps = drawn.maps()
    spec = drawn.spec(draw(maps, stacked=stacked))
    across, down = axes(spec, "x"), axes(spec, "y")
    *titles, below, last = spec["layout"]["annotations"]
    for note, x, y in zip(titles, across, down, strict=True):
        assert (note["x"], note["y"]) == pytest.approx((x["domain"][0], y["domain"][1]))
        assert (note["xanchor"], note["yanchor"]) == ("left", "bottom")
    shared, own = (spec["layout"][name]["colorbar"] for name in ("coloraxis", "coloraxis2"))
    assert shared["y"] == pytest.approx(down[1]["domain"][0])
    assert own["y"] == pytest.approx(down[2]["domain"][0])
    assert (shared["yanchor"], own["yanchor"]) == ("top", "top")
    for note, bar in ((below, shared), (last, own)):
        assert (note["x"], note["y"]) == (bar["x"], bar["y"])
        room = spec["layout"]["margin"]["b"] + note["yshift"]
        assert -note["yshift"] > bar["ypad"] + bar["thickness"] + bar["tickfont"]["size"]
        assert note["font"]["size"] < room
        assert (note["xanchor"], note["yanchor"]) == ("center", "top")


# Curves


@pytest.mark.parametrize("logarithmic", [False, True])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_curves_are_those_of_the_table(mode, logarithmic):
    experiment = Experiment(drawn.PAIR, Sample("chinese", 8, 3))
    table, text = curves(experiment), texts("en")
    description = decay_curves(table, experiment, text, logarithmic=logarithmic)
    spec = drawn.spec(draw(description, mode=mode))
    assert [trace["name"] for trace in spec["data"]] == [
        "RoPE (base 100,000)",
        "XPos (base 100,000, γ 0.4, B 24)",
    ]
    for place, (trace, encoding) in enumerate(zip(spec["data"], drawn.PAIR, strict=True)):
        rows = table[table["encoding"] == repr(encoding)]
        rows = rows[rows["lag"] > 0] if logarithmic else rows
        assert np.array_equal(drawn.array(trace["x"]), rows["lag"].to_numpy(np.float32))
        assert np.array_equal(drawn.array(trace["y"]), rows["g"].to_numpy(np.float32))
        assert (trace["type"], trace["mode"]) == ("scatter", "lines")
        assert (trace["line"]["color"], trace["line"]["dash"]) == (LINES[place], DASHES[place])
    layout = spec["layout"]
    assert layout["xaxis"]["type"] == ("log" if logarithmic else "linear")
    assert layout["xaxis"]["title"]["text"] == text("figure.lag_axis")
    assert layout["yaxis"]["title"]["text"] == text("figure.g_axis")
    title = "".join(note["text"] for note in layout["annotations"])
    assert text("figure.decay_title") in title
    assert text("figure.assumption") in title
    assert layout["paper_bgcolor"] == layout["plot_bgcolor"] == INKS[mode].page
    assert layout["showlegend"] is True
    assert not layout.get("template", {}).get("layout")


def test_the_default_template_changes_nothing():
    """Importing Streamlit replaces it."""
    _, maps = drawn.maps()
    before, chosen = draw(maps).to_json(), pio.templates.default
    try:
        pio.templates.default = "plotly_dark"
        assert draw(maps).to_json() == before
    finally:
        pio.templates.default = chosen


def test_a_figure_for_a_projector_is_the_same_in_larger_type():
    usual = drawn.spec(draw(maps := drawn.one_panel(np.eye(4)), width=800))
    large = drawn.spec(draw(maps, width=1200, larger=1.5))
    assert large["layout"]["font"]["size"] == 1.5 * usual["layout"]["font"]["size"]
    for side, pixels in usual["layout"]["margin"].items():
        assert large["layout"]["margin"][side] == (pixels if side == "autoexpand" else 1.5 * pixels)
    assert large["layout"]["height"] == 1.5 * usual["layout"]["height"]
    foots = (spec["layout"]["coloraxis"]["colorbar"]["ypad"] for spec in (large, usual))
    assert next(foots) == 1.5 * next(foots)
    assert large["layout"]["xaxis"]["domain"] == usual["layout"]["xaxis"]["domain"]
    assert large["layout"]["xaxis"]["range"] == usual["layout"]["xaxis"]["range"]
    for name in ("x", "y", "z"):
        before, after = (drawn.array(spec["data"][0][name]) for spec in (usual, large))
        np.testing.assert_array_equal(before, after)


def test_a_plane_on_a_page_is_as_high_as_it_is_wide():
    grows, layout = fit(kinds.plane()), sketch(kinds.plane()).to_dict()["layout"]
    margin = layout["margin"]
    assert grows.slope == 1
    sides = (grows.narrowest, grows.widest)
    assert [side - margin["l"] - margin["r"] for side in sides] == [200, 400]
    assert layout["height"] - margin["t"] - margin["b"] == 200
