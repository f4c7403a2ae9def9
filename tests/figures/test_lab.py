"""The pictures of trained models as data."""

import pytest

from xpos_viz.encoding import Encoding
from xpos_viz.figures import lab as figures
from xpos_viz.figures.lines import FAMILY_LINES
from xpos_viz.lab.bundle import results
from xpos_viz.studies.lab import MODELS, Lab, by_place, excess, limits, resolved, spread
from xpos_viz.texts import texts
from xpos_viz.theme import LEVEL, LINES

EN = texts("en")
ALL = Lab("quick", MODELS)
PAIR = Lab("quick", ("rope", "xpos_half"), blocks=True, reach=4)
NAMES = ["RoPE", "XPos (B 32)", "XPos (B 512)", "ALiBi", "NoPE"]


def of_rope(measure, mask, column):
    """The numbers of RoPE at each length or place, the mean, least and most of its seeds."""
    table = results("quick")
    part = table[(table["encoding"] == "rope") & (table["measure"] == measure)]
    return part[part["mask"] == mask].groupby(column)["value"].agg(["mean", "min", "max"])


def test_each_model_is_a_line_and_the_window_is_the_last():
    shown = figures.place_curves(ALL, EN)
    labels = [curve.label for curve in shown.curves]
    assert labels == [*NAMES, "RoPE, in windows of 64 bytes"]
    rope, *_, level = shown.curves
    expected = of_rope("place", "causal", "place")
    assert rope.x.tolist() == [*expected.index]
    assert rope.y == pytest.approx(expected["mean"].to_numpy())
    assert rope.band is not None
    for side, name in zip(rope.band, ("min", "max"), strict=True):
        assert side == pytest.approx(expected[name].to_numpy())
    assert level.y == pytest.approx(of_rope("place", "windows:64", "place")["mean"].to_numpy())
    assert (level.line, level.dash, level.band) == (LEVEL, "solid", None)
    (mark,) = shown.marks
    assert (mark.x, mark.label, mark.line) == (64, "training length 64", LEVEL)
    assert mark.y == pytest.approx(level.y[(level.x == 60) | (level.x == 68)].mean())
    assert not shown.logarithmic
    assert figures.place_curves(ALL, EN, logarithmic=True).logarithmic


def test_blocks_and_a_shorter_way():
    shown = figures.place_curves(PAIR, EN)
    rope, *_ = shown.curves
    expected = of_rope("place", "blockwise:32", "place")["mean"]
    assert rope.y == pytest.approx(expected[expected.index < 256].to_numpy())
    assert shown.title == (
        "Loss by place in the text",
        "reading in blocks of 32 bytes (blockwise causal mask)",
    )


def test_with_blocks_and_without_them_axes_are_the_same():
    """So that the rescue is seen."""
    pair = (PAIR, Lab("quick", PAIR.models, reach=4))
    for draw in (figures.place_curves, figures.mean_curves, figures.excess_bars):
        first, second = (draw(lab, EN) for lab in pair)
        assert first.y_limits == second.y_limits is not None
    both = by_place(PAIR, "causal", "blockwise:32")
    assert figures.place_curves(PAIR, EN).y_limits == limits(both)


def test_a_model_keeps_its_line_whichever_others_are_shown():
    every = figures.model_lines(ALL)
    assert every["rope"] == FAMILY_LINES["rope"]
    assert every["xpos_half"] == FAMILY_LINES["xpos"]
    assert len({*every.values()}) == len(MODELS)
    for name in MODELS:
        assert figures.model_lines(Lab("quick", (name,))) == {name: every[name]}


def test_means_stand_over_lengths():
    shown = figures.mean_curves(ALL, EN)
    expected = of_rope("mean", "causal", "length")
    assert shown.curves[0].x.tolist() == [32, 64, 128, 256, 512, 1024] == [*expected.index]
    assert shown.curves[0].y == pytest.approx(expected["mean"].to_numpy())
    assert shown.logarithmic
    assert shown.marks[0].y == pytest.approx(expected["mean"][64])


def test_bars_are_the_paired_excess_with_its_seeds():
    shown, found = figures.excess_bars(ALL, EN), excess(ALL)
    assert shown.labels == (*NAMES,)
    ((_, heights),) = shown.series
    assert heights.tolist() == [found["value"][name] for name in MODELS]
    assert shown.spans is not None
    low, high = shown.spans
    assert (low <= heights).all()
    assert (heights <= high).all()
    assert shown.lines == tuple(line for line, _ in figures.model_lines(ALL).values())
    assert shown.entries == ()
    rope = of_rope("excess", "causal", "length").iloc[0]
    assert (low[0], heights[0], high[0]) == pytest.approx((rope["min"], rope["mean"], rope["max"]))
    assert shown.written[0] == (f"{rope['mean']:.3f}", f"± {found['error']['rope']:.3f}")


def test_logits_are_followed_over_distance():
    shown = figures.logit_curves(ALL, EN)
    expected = of_rope("logit", "causal", "place")["mean"]
    assert shown.curves[0].y == pytest.approx(expected.to_numpy())
    assert all(curve.band is None for curve in shown.curves)
    assert shown.notes == ("Models whose encoding adds a bias leave the picture below.",)
    alone = figures.logit_curves(Lab("quick", ("rope",)), EN, logarithmic=True)
    assert alone.curves[0].x[0] == 1
    assert (alone.notes, alone.y_limits) == ((), None)


def test_the_table_of_resolution_is_written():
    found = resolved(PAIR)
    table = figures.resolution_rows(found, PAIR, EN)
    assert [*table.index] == ["RoPE", "XPos (B\u00a032)"]
    assert [*table.columns] == [f"{n} bytes" for n in ("64", "128", "256", "512", "1,024")]
    assert float(str(table.iloc[1, 0])) == pytest.approx(found[64]["xpos_half"], rel=5e-3)


def test_the_paper_has_its_own_picture():
    """Sun et al. 2022, tables 2 and 5, as they are printed."""
    shown = figures.paper_curves(EN)
    found = {curve.label: (curve.x.tolist(), curve.y.tolist()) for curve in shown.curves}
    five, two = [256, 512, 1024, 2048, 4096], [2048, 4096]
    assert found == {
        "absolute positions": (five, [46.34, 36.39, 29.94, 132.63, 1283.79]),
        "ALiBi": (five, [37.66, 29.92, 24.99, 23.14, 24.26]),
        "RoPE": (five, [38.09, 30.38, 25.52, 73.6, 294.45]),
        "RoPE with blocks": (two, [25.57, 25.65]),
        "XPos": (two, [22.56, 28.43]),
        "LeX: XPos with blocks": (five, [34.3, 27.55, 23.31, 21.6, 20.73]),
    }
    assert shown.logarithmic
    assert shown.logarithmic_y
    (mark,) = shown.marks
    assert (mark.x, mark.y, mark.label) == (1024, 25.52, "trained at 1,024")
    assert "Sun et al. 2022" in shown.title[1]


def test_names_say_in_what_encodings_differ():
    assert [*figures.names(ALL, EN).values()] == NAMES
    assert figures.names(Lab("main", ("xpos_half",)), texts("zh"))["xpos_half"] == "XPos（B 64）"
    assert all(isinstance(encoding, Encoding) for encoding in ALL.encodings.values())
    assert len(LINES) > max(line for line, _ in figures.model_lines(ALL).values())
    assert len(spread(ALL, "excess")) == len(MODELS)
