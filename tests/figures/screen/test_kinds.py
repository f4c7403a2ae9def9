"""Curves with bands and marks, grids, bars and planes on a screen, as data that are sent."""

import json
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest

from tests import drawn, kinds
from tests.colours import contrast
from xpos_viz.figures.description import Curve, Mark
from xpos_viz.figures.plotly_pen import choosable, draw, sketch
from xpos_viz.figures.spans import bar_limits
from xpos_viz.theme import INKS, LINES, NEUTRAL

each_kind = pytest.mark.parametrize("description", kinds.ALL.values(), ids=kinds.ALL)


@each_kind
@pytest.mark.parametrize("mode", INKS)
def test_every_kind_has_its_ink_and_its_words(description, mode):
    spec = drawn.spec(draw(description, mode=mode))
    layout = spec["layout"]
    assert layout["paper_bgcolor"] == INKS[mode].page
    assert layout["template"] == {"data": {"scatter": [{"type": "scatter"}]}}
    assert INKS["light" if mode == "dark" else "dark"].text not in json.dumps(spec)
    title, *_ = layout["annotations"]
    assert all(line in title["text"] for line in description.title)
    assert layout["xaxis"]["title"]["text"] == description.x
    assert layout["yaxis"]["title"]["text"] == description.y


@each_kind
@pytest.mark.parametrize("larger", [1.0, 1.5])
def test_a_page_sends_what_plotly_would_and_plotly_finds_it_valid(description, larger):
    sent = drawn.spec(sketch(description, larger=larger))
    assert drawn.spec(go.Figure(sent)) == sent
    whole = drawn.spec(draw(description, larger=larger))
    assert whole["data"] == sent["data"]
    own = {"annotations", "height", "margin", "showlegend"}
    assert all(
        whole["layout"][part] == sent["layout"][part] for part in sent["layout"].keys() - own
    )
    _, *names = whole["layout"]["annotations"]
    assert names == sent["layout"].get("annotations", [])
    assert not any(description.title[0] in name["text"] for name in names)


def test_a_long_title_is_broken_and_has_room():
    long = replace(kinds.curves(), title=("word " * 20, "字" * 60))
    short, tall = (drawn.spec(draw(each))["layout"] for each in (kinds.curves(), long))
    title, *_ = tall["annotations"]
    lines = title["text"].split("<br>")
    assert [line.count("word") for line in lines[:3]] == [9, 9, 2]
    assert [line.count("字") for line in lines[3:]] == [29, 29, 2]
    assert tall["margin"]["t"] - short["margin"]["t"] == tall["height"] - short["height"] == 4 * 17


# Curves


def test_curves_have_the_colour_of_their_line():
    spec = drawn.spec(draw(kinds.curves()))
    lines = [trace for trace in spec["data"] if trace["mode"] == "lines" and trace["line"]["width"]]
    assert [trace["name"] for trace in lines] == ["mean", "bound &lt;b&gt;", "other"]
    assert [trace["line"]["color"] for trace in lines] == [LINES[2]] * 3
    assert [trace["line"]["dash"] for trace in lines] == ["dot", "dot", "dot"]
    plain = replace(
        kinds.curves(), curves=tuple(replace(c, line=None) for c in kinds.curves().curves)
    )
    lines = drawn.spec(draw(plain))["data"][1:4]
    assert [trace["line"]["color"] for trace in lines] == list(LINES[:3])
    assert [trace["line"]["dash"] for trace in lines] == ["solid", "dot", "dot"]


def test_a_curve_of_one_point_is_seen():
    point = Curve("point", np.array([831.7]), np.array([4.0]))
    traces = drawn.spec(draw(replace(kinds.curves(logarithmic=False), curves=(point,))))["data"]
    (trace,) = (trace for trace in traces if trace.get("name") == "point")
    assert (trace["mode"], trace["cliponaxis"]) == ("markers", False)
    assert drawn.array(trace["x"]).tolist() == [831.7]  # in full: the axis may begin there


def test_what_has_no_logarithm_is_a_gap():
    *_, trace, _ = drawn.spec(draw(kinds.curves()))["data"]
    y = drawn.array(trace["y"]).astype(float)
    assert np.array_equal(y, [0.1, np.inf, 1e-3, np.nan], equal_nan=True)


def test_what_may_be_tiny_is_read_by_powers_of_ten():
    *_, trace, _ = drawn.spec(draw(kinds.curves()))["data"]
    assert (trace["hovertemplate"], trace["text"]) == ("%{text}", ["0.1", "∞", "0.001", "0"])
    described = kinds.curves()
    first = replace(described.curves[0], x=np.array([1.0]), y=np.array([2.345e-7]), band=None)
    trace, *_ = drawn.spec(draw(replace(described, curves=(first,))))["data"]
    assert trace["text"] == ["2.34\u00a0×\u00a010⁻⁷"]
    *_, trace, _ = drawn.spec(draw(kinds.curves(logarithmic_y=False)))["data"]
    assert (trace["hovertemplate"], "text" in trace) == ("%{y:.5~g}", False)


def test_dots_at_the_ends_of_a_logarithmic_axis_are_on_it_whatever_logarithm_a_browser_has():
    described = replace(kinds.curves(logarithmic=True), x_limits=(958.7, 37_000.0))
    low, high = drawn.spec(draw(described))["layout"]["xaxis"]["range"]
    for end, limit in ((low, 958.7), (high, 37_000.0)):
        assert end == pytest.approx(np.log10(limit), abs=1e-8)
    assert low < np.nextafter(np.log10(958.7), 0)
    assert high > np.nextafter(np.log10(37_000.0), 9)


@pytest.mark.parametrize("logarithmic_y", [False, True])
def test_a_band_is_closed_and_has_gaps(logarithmic_y):
    """There and back over each piece; on a logarithmic axis it ends where the axis does."""
    spec = drawn.spec(draw(kinds.curves(logarithmic_y=logarithmic_y)))
    trace = spec["data"][0]
    assert (trace["fill"], trace["hoverinfo"], trace["showlegend"]) == ("toself", "skip", False)
    assert trace["fillcolor"] == "rgba(0,158,115,0.18)"
    assert trace["legendgroup"] == spec["data"][1]["legendgroup"]
    assert drawn.array(trace["x"]).astype(float).tolist()[:4] == [1, 10, 10, 1]
    y = drawn.array(trace["y"]).astype(float)
    assert y[[0, 1, 3]].tolist() == pytest.approx([2, 3, 0.5])
    assert y[2] == -1 if not logarithmic_y else 0 < y[2] < 1e-3
    assert np.isnan(y[[4, 7]]).all()
    assert y[[5, 6]].tolist() == pytest.approx([0.5, 0.05])


@pytest.mark.parametrize("logarithmic", [False, True])
def test_marks_are_points_whose_names_stand_above_the_axes(logarithmic):
    described = kinds.curves(logarithmic=logarithmic, logarithmic_y=logarithmic)
    spec = drawn.spec(draw(described, mode="dark"))
    marks = spec["data"][-1]
    assert (marks["mode"], marks["text"]) == ("markers", ["half-life 10", "the end"])
    assert drawn.array(marks["x"]).tolist() == [10, 1000]
    assert drawn.array(marks["y"]).tolist() == [0.4, 1]
    assert marks["marker"]["color"] == [LINES[2], LINES[5]]
    _, first, last = spec["layout"]["annotations"]
    assert (first["text"], first["xanchor"]) == ("half-life 10", "left")
    assert (last["text"], last["xanchor"]) == ("the end", "right")
    assert [note["x"] for note in (first, last)] == ([1, 3] if logarithmic else [10, 1000])
    for note in (first, last):
        assert (note["y"], note["yref"], note["yanchor"]) == (1, "paper", "bottom")
        assert note["font"]["color"] == INKS["dark"].text
    poles = spec["layout"]["shapes"]
    assert [(pole["x0"], pole["x1"], pole["line"]["color"]) for pole in poles] == [
        (10, 10, LINES[2]),
        (1000, 1000, LINES[5]),
    ]


def flags(*marks):
    """The names of marks over an axis from 1 to 1000: where each begins, its side and line."""
    described = replace(kinds.curves(logarithmic=False, logarithmic_y=False), marks=marks)
    curves = tuple(replace(curve, x=np.linspace(1, 1000, 4)) for curve in described.curves)
    layout = drawn.spec(draw(replace(described, curves=curves)))["layout"]
    title, *notes = layout["annotations"]
    assert title["yshift"] > max(note["yshift"] for note in notes) + 11
    return [(note["text"], note["xanchor"], note["yshift"]) for note in notes]


def test_the_name_of_a_mark_at_an_end_is_not_cut_off():
    marks = (Mark(8.0, 0.4, "first", 0), Mark(400.0, 0.2, "second", 1), Mark(990.0, 0.2, "last", 1))
    assert [side for _, side, _ in flags(*marks)] == ["left", "left", "left"]
    assert [side for _, side, _ in flags(Mark(990.0, 0.2, "the last one", 1))] == ["right"]


def test_names_that_would_meet_stand_one_over_the_other():
    marks = [Mark(x, 0.2, name, 1) for x, name in ((820.0, "290,086"), (800.0, "580,171"))]
    assert flags(*marks) == [("580,171", "left", 2), ("290,086", "left", 17)]
    assert [line for *_, line in flags(*marks, Mark(8.0, 0.2, "far", 1))] == [2, 2, 17]


def test_marks_without_a_name_are_points_alone():
    bare = replace(kinds.curves(), marks=tuple(replace(m, label="") for m in kinds.curves().marks))
    spec = drawn.spec(draw(bare))
    assert len(spec["data"][-1]["x"]) == 2
    assert len(spec["layout"]["annotations"]) == 1


@pytest.mark.parametrize("logarithmic", [False, True])
def test_axes_are_linear_or_logarithmic(logarithmic):
    layout = drawn.spec(draw(kinds.curves(logarithmic=logarithmic, logarithmic_y=logarithmic)))[
        "layout"
    ]
    kind = "log" if logarithmic else "linear"
    assert (layout["xaxis"]["type"], layout["yaxis"]["type"]) == (kind, kind)
    assert layout["yaxis"]["zeroline"] is not logarithmic
    assert layout["xaxis"].get("dtick") == (1 if logarithmic else None)


def test_a_short_logarithmic_axis_names_numbers_in_full():
    short = replace(kinds.curves(), x_limits=(20.0, 1500.0), y_limits=(1e-3, 1e3))
    layout = drawn.spec(draw(short))["layout"]
    assert (layout["xaxis"]["dtick"], layout["xaxis"]["tickformat"]) == ("D2", ",~r")
    assert (layout["yaxis"]["dtick"], "tickformat" in layout["yaxis"]) == (1, False)


def test_values_beyond_single_precision_are_sent_whole():
    x, y = np.array([1.0, 2.0]), np.array([1e-300, 1e300])
    curve = replace(kinds.curves().curves[2], x=x, y=y)
    spec = drawn.spec(draw(replace(kinds.curves(), curves=(curve,), marks=())))
    assert drawn.array(spec["data"][0]["y"]).tolist() == y.tolist()


# Grids


@pytest.mark.parametrize("name", ["grid", "log", "words"])
def test_a_grid_has_its_cells_at_their_places(name):
    grid = kinds.ALL[name]
    spec = drawn.spec(draw(grid))
    (trace,) = spec["data"]
    z, layout = drawn.array(trace["z"]).astype(float), spec["layout"]
    assert np.array_equal(np.isnan(z), np.isnan(grid.values))
    assert z[np.isfinite(grid.values)] == pytest.approx(grid.values[np.isfinite(grid.values)])
    assert z[2, 3] == np.finfo(np.float64).max
    assert layout["plot_bgcolor"] == INKS["light"].masked
    kind = {"grid": "linear", "log": "log", "words": "category"}[name]
    assert layout["xaxis"]["type"] == kind
    if name == "words":
        assert layout["xaxis"]["range"] == [-0.5, 3.5]
        assert layout["yaxis"]["range"] == [2.5, -0.5]
    else:
        assert layout["yaxis"]["autorange"] == "reversed"
    assert layout["annotations"][-1]["text"] == "share"
    assert "title" not in layout["coloraxis"]["colorbar"]
    assert 0.5 < layout["coloraxis"]["cmax"] < 0.51
    if name == "words":
        assert drawn.array(trace["x"]).tolist() == ["a", "b", "a\u200b", "c"]
        assert drawn.array(trace["y"]).tolist() == ["float16", "float32", "float64"]
    else:
        assert drawn.array(trace["x"]).tolist() == kinds.X.tolist()


def test_a_ring_stands_in_its_cell_on_ground_of_its_own():
    spec = drawn.spec(draw(replace(kinds.ALL["words"], ringed=(1, 3))))
    _, *rings = spec["data"]
    assert [(ring["x"], ring["y"]) for ring in rings] == [(["c"], ["float32"])] * 2
    ground, ring = (ring["marker"] for ring in rings)
    assert (ground["color"], ring["color"]) == (INKS["light"].page, INKS["light"].text)
    assert ground["line"]["width"] > ring["line"]["width"]


@pytest.mark.parametrize("name", ["words", "grid"])
@pytest.mark.parametrize("powers", [False, True])
def test_cells_that_a_click_chooses_know_their_numbers_and_are_read_as_before(name, powers):
    grid = kinds.ALL[name]
    grid = replace(grid, ringed=(1, 3), bar=replace(grid.bar, powers=powers))
    before, spec = (drawn.spec(figure(grid)) for figure in (sketch, choosable))
    assert drawn.spec(go.Figure(spec)) == spec
    cells, *_, points = spec["data"]
    assert cells == before["data"][0]
    known = np.flatnonzero(~np.isnan(grid.values)).tolist()
    assert points["customdata"] == known
    x, y = (drawn.array(cells[axis]).tolist() for axis in ("x", "y"))
    places = [divmod(cell, len(x)) for cell in known]
    assert points["x"] == [x[column] for _, column in places]
    assert points["y"] == [y[row] for row, _ in places]
    assert points["hovertemplate"].replace("marker.color", "z") == cells["hovertemplate"]
    if powers:
        assert points["text"] == [drawn.array(cells["text"])[place] for place in places]
    assert points["marker"]["opacity"] == points["unselected"]["marker"]["opacity"] == 0
    layout = spec["layout"]
    assert (layout["clickmode"], layout["hoverdistance"]) == ("event+select", -1)


def test_marks_that_a_click_chooses_are_counted_and_nothing_pales():
    curves = kinds.curves()
    read = replace(curves.marks[0], read="what it is")
    spec = drawn.spec(choosable(replace(curves, marks=(read, *curves.marks[1:]))))
    *lines, marks = spec["data"]
    assert marks["customdata"] == [0, 1]
    assert marks["text"] == ["what it is", "the end"]
    assert {line["hoverinfo"] for line in lines} == {"skip"}
    assert all(trace["unselected"]["marker"]["opacity"] == 1 for trace in spec["data"])


def test_what_has_no_points_is_drawn_as_ever():
    for description in (kinds.bars(), replace(kinds.curves(), marks=())):
        assert drawn.spec(choosable(description)) == drawn.spec(sketch(description))


def test_a_grid_of_factors_is_read_as_factors():
    (trace,) = drawn.spec(draw(kinds.grid(powers=True)))["data"]
    assert trace["hovertemplate"].startswith("<b>%{text}</b>")
    assert drawn.array(trace["text"])[0, 0] == "0.707107"


# Bars


def test_bars_stand_in_groups_and_equal_labels_apart():
    spec = drawn.spec(draw(kinds.bars()))
    first, second = spec["data"]
    assert (first["type"], spec["layout"]["barmode"]) == ("bar", "group")
    assert [first["name"], second["name"]] == ["RoPE", "XPos &lt;i&gt;"]
    for trace, (_, heights) in zip(spec["data"], kinds.bars().series, strict=True):
        assert drawn.array(trace["x"]).tolist() == ["the", "&lt;s&gt;", "the\u200b"]
        y = drawn.array(trace["y"]).astype(float)
        assert y == pytest.approx(heights, nan_ok=True)
    assert [first["marker"]["color"], second["marker"]["color"]] == list(LINES[:2])
    assert spec["layout"]["xaxis"]["type"] == "category"


def test_bars_of_a_thing_each_have_its_colour_and_what_lies_around_them():
    described = kinds.own_bars()
    spec = drawn.spec(draw(described))
    (trace,) = spec["data"]
    assert trace["marker"]["color"] == [LINES[2], LINES[0], LINES[2]]
    assert described.spans is not None
    low, high = described.spans
    heights, error = drawn.array(trace["y"]), trace["error_y"]
    assert heights + drawn.array(error["array"]) == pytest.approx(high)
    assert heights - drawn.array(error["arrayminus"]) == pytest.approx(low)
    _title, *written = spec["layout"]["annotations"]
    assert [each["text"] for each in written] == [
        "0.5<br>± 0.1",
        "−0.25<br>&lt;i&gt;",
        "1<br>± 0.2",
    ]
    assert [each["y"] for each in written] == [0.75, 0.125, 1.25]
    assert [each["x"] for each in written] == ["one", "&lt;b&gt;", "three"]
    assert bar_limits(described) == pytest.approx((-0.5 - 0.0875, 1.25 + 0.0875))


# Planes


def test_a_plane_has_the_unit_circle_and_equal_axes():
    layout = drawn.spec(draw(kinds.plane()))["layout"]
    (circle,) = layout["shapes"]
    assert (circle["type"], circle["x0"], circle["x1"], circle["y0"], circle["y1"]) == (
        *("circle", -1, 1),
        *(-1, 1),
    )
    assert layout["xaxis"]["range"] == layout["yaxis"]["range"] == pytest.approx([-1.62, 1.62])
    assert layout["yaxis"]["scaleanchor"] == "x"


@pytest.mark.parametrize("mode", INKS)
def test_the_slider_of_a_plane_stands_out(mode):
    slider = drawn.spec(draw(kinds.plane(), mode=mode))["layout"]["sliders"][0]
    assert contrast(slider["bordercolor"], INKS[mode].page) >= 3


def test_a_plane_moves_step_by_step():
    plane = kinds.plane()
    spec = drawn.spec(draw(plane))
    *paths, points = spec["data"]
    for trace, label, path in zip(paths, plane.labels, plane.paths, strict=True):
        assert trace["name"] == label
        assert drawn.array(trace["x"]) == pytest.approx(path.real)
        assert drawn.array(trace["y"]) == pytest.approx(path.imag)
    assert points["text"] == list(plane.labels)
    assert drawn.array(points["x"]) == pytest.approx(plane.paths[:, 0].real)
    assert [frame["name"] for frame in spec["frames"]] == ["0", "1", "2", "3", "4"]
    for step, frame in enumerate(spec["frames"]):
        assert frame["traces"] == [len(paths)]
        assert drawn.array(frame["data"][0]["y"]) == pytest.approx(plane.paths[:, step].imag)
    (slider,) = spec["layout"]["sliders"]
    assert [step["label"] for step in slider["steps"]] == list(plane.steps)
    assert [step["args"][0] for step in slider["steps"]] == [
        [frame["name"]] for frame in spec["frames"]
    ]
    (menu,) = spec["layout"]["updatemenus"]
    (button,) = menu["buttons"]
    assert menu["active"] == -1  # then the first press plays
    assert (button["args"][0], button["args2"][0]) == (None, [None])


def test_points_without_a_path_are_small_and_grey_and_named_by_pointing_at_them():
    plane = replace(kinds.plane(5), trails=(0, 3))
    spec = drawn.spec(draw(plane))
    *paths, points = spec["data"]
    assert [path["name"] for path in paths] == ["pair 0", "pair 3"]
    assert points["text"] == ["pair 1", "pair 2", "pair 4", "pair 0", "pair 3"]
    assert points["marker"]["color"] == [NEUTRAL] * 3 + [path["line"]["color"] for path in paths]
    assert points["marker"]["size"] == [6, 6, 6, 9, 9]
    assert points["hovertemplate"].startswith("%{text}")
    for step, frame in enumerate(spec["frames"]):
        assert frame["traces"] == [2]
        placed = plane.paths[[1, 2, 4, 0, 3], step]
        assert drawn.array(frame["data"][0]["x"]) == pytest.approx(placed.real)
    assert spec["layout"]["showlegend"] is True


def test_many_points_are_named_by_pointing_at_them():
    assert drawn.spec(draw(kinds.plane(12)))["layout"]["showlegend"] is True
    assert drawn.spec(draw(kinds.plane(13)))["layout"]["showlegend"] is False


# Small multiples


def test_maps_wrap_into_rows():
    _, maps = drawn.maps()
    panel = maps.panels[0]
    many = replace(maps, panels=(panel,) * 5, bars=maps.bars[:1], across=2)
    layout = drawn.spec(draw(many))["layout"]
    frames = [
        (layout[f"xaxis{place}"]["domain"], layout[f"yaxis{place}"]["domain"])
        for place in ("", *range(2, 6))
    ]
    assert frames[0][0] == frames[2][0] == frames[4][0]
    assert frames[1][0] == frames[3][0]
    assert frames[0][1] == frames[1][1]
    assert frames[0][1][0] > frames[2][1][1] > frames[2][1][0] > frames[4][1][1]
    titles = [layout[f"yaxis{place}"]["title"]["text"] for place in ("", *range(2, 6))]
    assert [bool(title) for title in titles] == [True, False, True, False, True]
    bar = layout["coloraxis"]["colorbar"]
    assert (bar["y"], bar["x"]) == pytest.approx((frames[4][1][0], 0.5))
    assert bar["nticks"] == 8  # as wide as two panels, however many rows there are


def test_bars_of_several_rows_stand_under_their_last_row():
    _, maps = drawn.maps()
    first, _, last = maps.panels
    spec = drawn.spec(draw(replace(maps, panels=(first,) * 3 + (last,), across=2)))
    shared, own = (spec["layout"][name]["colorbar"] for name in ("coloraxis", "coloraxis2"))
    assert shared["y"] == pytest.approx(own["y"])
    assert shared["x"] < 0.5 < own["x"]
    assert shared["len"] == pytest.approx(own["len"])
