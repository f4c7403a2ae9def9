"""Curves with bands and marks, grids, bars and planes on paper: as files, and as drawn."""

import io
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pypdfium2
import pytest
from matplotlib.colors import to_hex, to_rgb
from PIL import Image

from tests import drawn, kinds
from xpos_viz.figures.description import Curve, Mark
from xpos_viz.figures.files import SIZES, Paper
from xpos_viz.figures.paper_pen import draw, save
from xpos_viz.theme import INKS, LINES, NEUTRAL, SCALES

each_kind = pytest.mark.parametrize("description", kinds.ALL.values(), ids=kinds.ALL)
SVG = "{http://www.w3.org/2000/svg}"
INK, DPI, PAGE = INKS["light"], SIZES["page"].dpi, (10.0, 5.625)
TOKENS = tuple(f"token {place}" for place in range(300))


def words(axis):
    """What is written at the ticks of an axis."""
    return [label.get_text() for label in axis.get_ticklabels()]


def pixel(figure, pixels, axes, at):
    """The colour of a PNG at a place of the data."""
    x, y = axes.transData.transform(at)
    return pixels[int(figure.bbox.height - y), int(x)]


@each_kind
def test_files_have_their_words_and_their_alternative_text(description):
    root = ElementTree.fromstring(save(description, "svg"))
    written = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    for line in (*description.title, description.x, description.y, *description.notes):
        assert written.count(line) == 1
    described = [node.text for node in root.iter() if node.tag.endswith("description")]
    assert described == [description.alt]
    with pypdfium2.PdfDocument(save(description, "pdf")) as document:
        assert len(document) == 1
        assert np.ptp(np.asarray(document[0].render(scale=1).to_pil())) > 100
        text = document[0].get_textpage().get_text_range()
        assert document.get_metadata_dict()["Subject"] == description.alt
    assert description.title[0] in text


@each_kind
def test_everything_stays_on_the_page(description):
    figure = draw(description)
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    assert 0 < box.x0 < box.x1 < PAGE[0]
    assert 0 < box.y0 < box.y1 < PAGE[1]


# Curves


@pytest.mark.parametrize("logarithmic", [False, True])
def test_curves_have_bands_marks_and_axes(logarithmic):
    description = kinds.curves(logarithmic=logarithmic, logarithmic_y=logarithmic)
    axes = draw(description).axes[0]
    lines = [line for line in axes.lines if np.size(line.get_xdata()) == 4]
    assert [line.get_color() for line in lines] == [LINES[2]] * 3
    assert lines[0].get_linestyle() == lines[1].get_linestyle() != "-"
    assert (axes.get_xscale(), axes.get_yscale()) == (
        ("log",) * 2 if logarithmic else ("linear",) * 2
    )
    (band,) = axes.collections
    assert to_hex(np.asarray(band.get_facecolor())[0]) == LINES[2]
    corners = np.concatenate([path.vertices for path in band.get_paths()])
    assert corners[:, 1].max() == 3
    assert corners[:, 1].min() == (pytest.approx(axes.get_ylim()[0]) if logarithmic else -1)
    assert not ((corners[:, 0] > 10) & (corners[:, 0] < 1000)).any()
    assert [note.get_text() for note in axes.texts] == ["half-life 10", "the end"]
    assert [note.get_horizontalalignment() for note in axes.texts] == ["left", "right"]
    for note in axes.texts:
        ground: Any = note.get_bbox_patch()
        assert to_hex(ground.get_facecolor()) == INKS["light"].page
        assert ground.get_alpha() > 0.8
    points = [line for line in axes.lines if line.get_marker() == "o"]
    assert [point.get_color() for point in points] == [LINES[2], LINES[5]]
    low, high = axes.get_ylim()
    assert high > 4
    assert 0 < low < 1e-3 if logarithmic else low < -1


def test_a_curve_of_one_point_is_seen():
    point = Curve("point", np.array([0.0]), np.array([4.0]))
    [axes] = draw(replace(kinds.curves(logarithmic=False), curves=(point,), marks=())).axes
    assert [line.get_marker() for line in axes.lines if line.get_label() == "point"] == ["o"]


@pytest.mark.parametrize(
    "y",
    [[1e-200, 1e200], [0.0, -1.0], [np.nan] * 2, [2.0, 2.0], [2.0, 3.0], [5e-324, 1e308]],
    ids=str,
)
def test_values_of_any_size_fit_a_logarithmic_axis(y):
    curve = replace(kinds.curves().curves[2], x=np.array([1.0, 2.0]), y=np.array(y))
    description = replace(kinds.curves(), curves=(curve,), marks=())
    figure = draw(description)
    axes = figure.axes[0]
    assert 0 < axes.get_ylim()[0] < axes.get_ylim()[1] < np.inf
    figure.draw_without_rendering()
    low, high = axes.get_ylim()
    seen = [tick for tick in axes.get_yticks() if low <= tick <= high]
    assert len(seen) > 1


# Grids


@pytest.mark.parametrize("name", ["grid", "log", "words"])
@pytest.mark.parametrize("repeats", [1, 30])
def test_cells_of_a_grid_have_their_colours(name, repeats):
    """As rectangles, and as a bitmap."""
    grid = kinds.ALL[name]
    grid = replace(grid, rows=tuple("abc") if name == "words" else grid.rows)
    if repeats > 1:
        rows = tuple(map(str, range(90))) if name == "words" else np.arange(90.0)
        grid = replace(grid, rows=rows, values=grid.values.repeat(repeats, 0))
    figure = draw(grid)
    axes = figure.axes[0]
    assert bool(axes.images) is (repeats > 1)
    pixels = np.asarray(Image.open(io.BytesIO(save(grid, "png"))).convert("RGB")) / 255
    places = range(4) if name == "words" else kinds.X
    for column, x in enumerate(places):
        for row in range(3):
            colour = pixel(figure, pixels, axes, (x, row * repeats + repeats // 2))
            value = grid.values[row * repeats, column]
            if np.isnan(value):
                assert colour == pytest.approx(to_rgb(INK.masked), abs=0.01)
            elif np.isfinite(value):
                stops = np.array([to_rgb(code) for code in SCALES["diverging"]])
                wanted = [np.interp(value, np.linspace(-0.5, 0.5, 7), part) for part in stops.T]
                assert colour == pytest.approx(wanted, abs=0.02)
    assert axes.get_xscale() == ("log" if name == "log" else "linear")
    assert axes.get_ylim() == (3 * repeats - 0.5, -0.5)


def test_words_of_a_grid_stand_at_its_cells():
    axes, bar = draw(kinds.ALL["words"]).axes
    assert words(axes.xaxis) == ["a", "b", "a", "c"]
    assert words(axes.yaxis) == ["float16", "float32", "float64"]
    assert bar.get_xlabel() == "share"


# Bars


def test_bars_stand_in_groups():
    axes = draw(kinds.bars()).axes[0]
    first, second = axes.containers
    for place, (bars, (_, heights)) in enumerate(
        zip((first, second), kinds.bars().series, strict=True)
    ):
        assert [bar.get_height() for bar in bars] == pytest.approx(heights, nan_ok=True)
        assert {to_hex(bar.get_facecolor()) for bar in bars} == {LINES[place]}
    for group, (left, right) in enumerate(zip(first, second, strict=True)):
        assert group - 0.5 < left.get_x() < left.get_x() + left.get_width() < right.get_x()
        assert right.get_x() + right.get_width() < group + 0.5
    assert words(axes.xaxis) == ["the", "<s>", "the"]


def test_bars_of_a_thing_each_have_its_colour_and_what_lies_around_them():
    described = kinds.own_bars()
    axes: Any = draw(described).axes[0]
    assert [to_hex(bar.get_facecolor()) for bar in axes.patches] == [LINES[2], LINES[0], LINES[2]]
    (whiskers,) = axes.collections
    ends = [segment[:, 1].tolist() for segment in whiskers.get_segments()]
    assert described.spans is not None
    assert ends == np.stack(described.spans, axis=1).tolist()
    assert [note.get_text() for note in axes.texts] == ["0.5\n± 0.1", "−0.25\n<i>", "1\n± 0.2"]
    assert [note.xy[1] for note in axes.texts] == [0.75, 0.125, 1.25]
    assert axes.get_legend() is None


def test_many_labels_are_thinned_and_do_not_touch():
    figure = draw(kinds.bars(TOKENS))
    figure.draw_without_rendering()
    axes = figure.axes[0]
    step = int(np.diff(axes.get_xticks())[0])
    assert step > 1
    assert words(axes.xaxis) == list(TOKENS[::step])
    boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
    assert all(left.x1 <= right.x0 for left, right in pairwise(boxes))


# Planes


def test_a_plane_shows_its_last_step_and_how_it_came():
    plane = kinds.plane()
    axes = draw(plane).axes[0]
    (circle,) = axes.patches
    assert circle.get_extents().width == pytest.approx(
        axes.transData.transform((2, 0))[0] - axes.transData.transform((0, 0))[0]
    )
    assert axes.get_aspect() == 1
    paths, points = axes.lines[::2], axes.lines[1::2]
    for path, point, wanted, label in zip(paths, points, plane.paths, plane.labels, strict=True):
        assert np.array_equal(path.get_xdata(), wanted.real)
        assert np.array_equal(path.get_ydata(), wanted.imag)
        assert np.asarray(point.get_xydata()).tolist() == [[wanted[-1].real, wanted[-1].imag]]
        assert point.get_label() == label
    assert axes.get_xlim() == axes.get_ylim() == pytest.approx((-1.62, 1.62))
    assert axes.get_legend() is not None
    assert draw(kinds.plane(32)).axes[0].get_legend() is None


def test_points_without_a_path_are_small_and_grey():
    plane = replace(kinds.plane(32), trails=(0, 3))
    axes = draw(plane).axes[0]
    (others,) = axes.collections
    ends = np.delete(plane.paths[:, -1], [0, 3])
    assert np.asarray(others.get_offsets()).tolist() == [[end.real, end.imag] for end in ends]
    assert np.asarray(others.get_facecolor())[0, :3].tolist() == list(to_rgb(NEUTRAL))
    assert len(axes.lines) == 4
    legend = axes.get_legend()
    assert legend is not None
    assert [words.get_text() for words in legend.get_texts()] == ["pair 0", "pair 3"]


# Small multiples


def test_maps_wrap_into_rows():
    _, maps = drawn.maps()
    many = replace(maps, panels=(maps.panels[0],) * 5, bars=maps.bars[:1], across=2)
    *panels, bar = draw(many, Paper("column")).axes
    boxes = [axes.get_position() for axes in panels]
    assert [box.x0 for box in boxes[::2]] == [boxes[0].x0] * 3
    assert boxes[1].x0 == boxes[3].x0 > boxes[0].x1
    assert boxes[0].y0 > boxes[2].y1 > boxes[2].y0 > boxes[4].y1 > bar.get_position().y1
    assert (bar.get_position().x0, bar.get_position().x1) == pytest.approx(
        (boxes[0].x0, boxes[1].x1)
    )
    assert [axes.get_xlabel() != "" for axes in panels] == [False, False, False, False, True]
    assert [axes.get_ylabel() != "" for axes in panels] == [True, False, True, False, True]
    pages = {round(axes.bbox.width / DPI, 6) for axes in panels}
    assert len(pages) == 1


def test_as_many_maps_stand_side_by_side_as_make_them_largest():
    _, maps = drawn.maps()
    many = replace(maps, panels=(maps.panels[0],) * 8, bars=maps.bars[:1], across=2)
    *panels, _ = draw(many).axes
    assert len({round(axes.get_position().y0, 6) for axes in panels}) == 2


def test_powers_of_ten_stand_apart_under_an_axis():
    end = 1e6
    x = np.array([1.0, 30.0, end])
    description = replace(kinds.curves(logarithmic=True), curves=(Curve("a", x, x),), marks=())
    figure = draw(description, Paper("column"))
    figure.draw_without_rendering()
    axis = figure.axes[0].xaxis
    boxes = [
        label.get_window_extent()
        for place, label in zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True)
        if 1 <= place <= end
    ]
    assert len(boxes) > 1
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    assert boxes[-1].x1 <= figure.bbox.width


def test_names_of_points_do_not_cover_each_other():
    marks = tuple(Mark(x, 1.0, f"the point at {x:g}") for x in (10.0, 11.0, 12.0))
    x = np.array([1.0, 100.0])
    description = replace(kinds.curves(), curves=(Curve("a", x, x),), marks=marks)
    figure = draw(description, Paper("column"))
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert len(boxes) == 3
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
