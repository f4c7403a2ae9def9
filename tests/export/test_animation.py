"""Pictures in motion: frames on one scale, as a page without network and as GIF."""

import json
import re
from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image, ImageSequence
from playwright.sync_api import expect

from tests.pages import offline
from xpos_viz.comparison import compare
from xpos_viz.export.animation import animation_gif, animation_html
from xpos_viz.export.sweeps import FRAMES, MOST_FRAMES, SWEPT, sweep, sweepable, usual_values
from xpos_viz.figures.description import Grid, Heatmaps
from xpos_viz.figures.files import Paper
from xpos_viz.figures.shared import on_one_scale, titled
from xpos_viz.pictures import PICTURES
from xpos_viz.results import run
from xpos_viz.state import State, from_address, opening
from xpos_viz.state.changes import with_moves
from xpos_viz.texts import LANGUAGES, texts

ENGLISH = texts("en")
SHORT = State(opening("sample", "pronoun"))
MADE = from_address({"source": "random", "length": "300", "head_dim": "8"})[0]
VALUES = (1.0, 8.0, 512.0)
RECIPE = json.dumps({"xpos_viz": "<!--</script><script>alert(1)</script>"})


@pytest.fixture(scope="module")
def maps():
    return sweep("compare", "scores", SHORT, "scale_base", VALUES, ENGLISH)


def frames_of(moving) -> Any:
    """The frames, of whatever kind the test knows them to be."""
    return moving.frames


def drawn(page, picture, state) -> Any:
    """A picture of a page as it stands there."""
    return next(p.description for p in PICTURES[page](state, ENGLISH) if p.name == picture)


def test_each_frame_is_the_picture_at_its_value(maps):
    for value, frame in zip(VALUES, maps.frames, strict=True):
        at = with_moves(SHORT, {"scale_base": value}).experiment
        expected = [*(each.values for each in run(at).measurements), compare(run(at)).values]
        for panel, values in zip(frame.panels, expected, strict=True):
            np.testing.assert_array_equal(panel.values, values)
    assert maps.values == VALUES
    assert maps.written == ("B 1", "B 8", "B 512")
    assert (maps.parameter, maps.label) == ("scale_base", "Scale base B")


def test_colours_end_where_the_largest_frame_needs_it(maps):
    single = (
        drawn("compare", "scores", with_moves(SHORT, {"scale_base": value})) for value in VALUES
    )
    limits = [[bar.limit for bar in each.bars] for each in single]
    assert len({limit for _, limit in limits}) == 3
    for frame in maps.frames:
        assert [bar.limit for bar in frame.bars] == np.max(limits, 0).tolist()


def test_each_title_and_alternative_text_says_the_value(maps):
    for value, frame in zip(maps.written, maps.frames, strict=True):
        assert frame.panels[1].title[1] == f"base 100,000, γ 0.4, {value}"
        assert frame.panels[0].title[2] == "raw scores q·k, causal mask"
        assert frame.alt.startswith(f"{value}: Heatmaps of RoPE")
        assert frame.notes[-1] == "Colours and axes end at the same values in all frames."
        assert not any("Colours end" in note for note in frame.notes)
    curves = sweep("compare", "decay", SHORT, "scale_base", (1.5, 15.0), ENGLISH)
    assert [frame.title[0].rpartition(" · ")[2] for frame in frames_of(curves)] == ["B 1.5", "B 15"]


def test_a_growing_length_has_cells_of_one_size():
    moving = sweep("compare", "scores", MADE, "length", (3, 30, 300), ENGLISH)
    small, _, whole = frames_of(moving)
    assert moving.written == ("3 tokens", "30 tokens", "300 tokens")
    assert small.axis is whole.axis
    assert (whole.axis.block, whole.panels[0].values.shape) == (3, (100, 100))
    np.testing.assert_array_equal(
        small.panels[0].values[:1, :1],
        run(shorter(3)).measurements[0].values,
    )
    assert np.isnan(small.panels[0].values).sum() == 100 * 100 - 1
    assert small.panels[0].seen.sum() == 1
    assert small.panels[2].title[2] == "raw scores q·k, causal mask · 3 tokens"


def shorter(length):
    """The made inputs with fewer tokens, as one cell."""
    experiment = MADE.experiment
    view = replace(experiment.view, cells=1)
    return replace(experiment, inputs=replace(experiment.inputs, length=length), view=view)


ADDRESSES = {
    "compare": {"name": "pronoun"},
    "learn": {"lesson": "shift"},
    "decay": {"distance": "64"},
    "pairs": {"name": "pronoun"},
    "tokens": {"name": "pronoun"},
    "layers": {"name": "pronoun"},
    "long": {"long_length": "1024", "source": "random", "head_dim": "8"},
    "precision": {"text_length": "256"},
    "neighbours": {"name": "pronoun", "distance": "64"},
    "choose": {"goal_length": "64", "second_goal": "headroom"},
    "lab": {"lab_size": "quick"},
}
STILL = ("learn", "choose", "lab")  # where one thing moves, or all that could is on the axes


@pytest.mark.parametrize("page", PICTURES)
def test_every_picture_moves_on_one_scale(page):
    """Each parameter that is offered changes what is drawn, and no other does."""
    state, refused = from_address(ADDRESSES[page])
    assert not refused
    for picture in PICTURES[page](state, ENGLISH):
        offered = sweepable(page, picture.name, state)
        assert bool(offered) == (page not in STILL)
        for parameter in offered:
            low, high = usual_values(parameter, state)[3], usual_values(parameter, state)[-3]
            moving = sweep(page, picture.name, state, parameter, (low, high), ENGLISH)
            first, last = moving.frames
            assert numbers(first) != numbers(last), (picture.name, parameter)
            assert limits(first) == limits(last) is not None
        for parameter in set(SWEPT) - {"length", *offered}:
            ends = (with_moves(state, {parameter: value}) for value in (1.5, 9.0))
            first, last = (drawn(page, picture.name, end) for end in ends)
            assert numbers(first) == numbers(last), (picture.name, parameter)


def numbers(frame):
    """All that is drawn of a description, as bytes."""
    parts = {
        "panels": lambda panels: [panel.values for panel in panels],
        "values": lambda values: [values],
        "curves": lambda curves: [part for curve in curves for part in (curve.x, curve.y)],
        "series": lambda series: [heights for _, heights in series],
        "paths": lambda paths: [paths],
    }
    found = [
        part
        for name, of in parts.items()
        if hasattr(frame, name)
        for part in of(getattr(frame, name))
    ]
    return b"".join(np.ascontiguousarray(part).tobytes() for part in found)


def limits(frame):
    """Where its colours and axes end."""
    bars = [frame.bar] if isinstance(frame, Grid) else []
    bars = frame.bars if isinstance(frame, Heatmaps) else bars
    ends = [getattr(frame, name, None) for name in ("x_limits", "y_limits", "limit")]
    return [*(bar.limit for bar in bars), *filter(None, ends)] or None


def test_usual_values_are_steps_of_the_slider():
    assert len(usual_values("gamma", SHORT)) == FRAMES
    assert usual_values("scale_base", SHORT)[0] == 1
    assert usual_values("scale_base", SHORT)[-1] == 65536
    lengths = usual_values("length", MADE)
    assert (lengths[0], lengths[-1], len(lengths)) == (18, 300, 16)
    assert all(length % 3 == 0 for length in lengths)


def test_work_is_told_of_and_can_be_ended():
    shares = []
    moving = sweep("compare", "decay", SHORT, "gamma", (0.1, 1.0), ENGLISH, shares.append)
    animation_gif(moving, Paper(), shares.append)
    assert shares == [0.5, 1.0, 0.5, 1.0]

    def stop(_):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        sweep("compare", "decay", SHORT, "gamma", (0.1, 1.0), ENGLISH, stop)
    with pytest.raises(InterruptedError):
        animation_gif(moving, Paper(), stop)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("home", "scores", "gamma", ()),
            f"unknown page 'home'; use one of: {', '.join(PICTURES)}.",
        ),
        (
            ("compare", "bars", "gamma", ()),
            "compare has no picture 'bars'; use one of: scores, decay.",
        ),
        (
            ("compare", "scores", "length", ()),
            "'length' does not move scores; use one of: gamma, scale_base, base.",
        ),
        (("decay", "bias", "gamma", ()), "nothing moves bias on decay; use other encodings."),
        (
            ("compare", "decay", "gamma", range(1, MOST_FRAMES + 2)),
            "a sweep has at most 100 values, got 101; leave some out.",
        ),
        (
            ("compare", "scores", "gamma", (0.0,)),
            "gamma must be a finite number > 0, got 0.0; the usual value is 0.4.",
        ),
    ],
)
def test_messages_of_what_cannot_be_swept(arguments, message):
    page, picture, parameter, values = arguments
    with pytest.raises(ValueError) as caught:
        sweep(page, picture, SHORT, parameter, values, ENGLISH)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            (100, 300),
            "lengths must be multiples of 3, the tokens of a cell, got 100; use 99.",
        ),
        ((30.5, 300), "length must be a whole number of tokens, got 30.5; round it."),
    ],
)
def test_messages_of_lengths(values, message):
    with pytest.raises(ValueError) as caught:
        sweep("compare", "scores", MADE, "length", values, ENGLISH)
    assert str(caught.value) == message


def test_a_picture_that_is_not_shown_is_named():
    state = State(opening("expectation"))
    with pytest.raises(ValueError) as caught:
        sweep("tokens", "heads", state, "gamma", (0.4,), ENGLISH)
    assert str(caught.value) == "tokens shows no heads with these settings; choose more."


def test_a_recipe_is_json(maps):
    with pytest.raises(ValueError) as caught:
        animation_html(maps, ENGLISH, "gamma")
    assert str(caught.value) == "recipe must be JSON, got 'gamma'; use json.dumps."


def test_a_gif_has_all_frames_in_one_palette(maps):
    with Image.open(BytesIO(animation_gif(maps, Paper(), recipe=RECIPE))) as image:
        assert (image.format, getattr(image, "n_frames", 1), image.size[0]) == ("GIF", 3, 960)
        assert image.info["comment"].decode() == RECIPE
        assert image.info["loop"] == 0
        frames = [
            np.asarray(frame.convert("RGB")).astype(int) for frame in ImageSequence.Iterator(image)
        ]
    assert [len(np.unique(frame.reshape(-1, 3), axis=0)) > 30 for frame in frames] == [True] * 3
    changed = np.abs(frames[0] - frames[2]).max(2) > 60
    assert 0.01 < changed.mean() < 0.5
    assert not changed[-20:].any()  # the colour bars and notes stand still
    assert (frames[0][0, 0] > 245).all()


@pytest.fixture
def visit(browser, tmp_path):
    """Open a page as a file, without network."""
    path = tmp_path / "sweep.html"
    with offline(browser) as opened:
        yield lambda content: path.write_text(content, encoding="utf-8") and opened(path)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_moves_by_keys_without_network(visit, language):
    text = texts(language)
    moving = sweep("compare", "scores", SHORT, "scale_base", VALUES, text)
    page = visit(animation_html(moving, text, RECIPE))
    assert page.title() == text("export.sweep", parameter=text("ui.scale_base"))
    assert page.locator("html").get_attribute("lang") == {"en": "en", "zh": "zh-Hans"}[language]
    slider = page.get_by_role("slider", name=text("ui.scale_base"))
    for place, key in enumerate(("Home", "ArrowRight", "End")):
        slider.press(key)
        frame = frames_of(moving)[place]
        assert slider.get_attribute("aria-valuetext") == moving.written[place]
        assert page.locator("output").inner_text() == moving.written[place]
        assert page.locator("#picture").get_attribute("aria-label") == frame.alt
        seen = page.evaluate(
            """() => picture._fullData.map((trace) => [...trace.z].map((row) => [...row]))"""
        )
        for panel, z in zip(frame.panels, seen, strict=True):
            values = np.array(z, dtype=float)
            np.testing.assert_allclose(values, panel.values, rtol=1e-6, atol=1e-6)
        for name, bar in zip(("coloraxis", "coloraxis2"), frame.bars, strict=True):
            end = page.evaluate(f"picture._fullLayout.{name}.cmax")
            assert end == pytest.approx(1.008 * bar.limit)  # and room for what is clipped
    assert Axe().run(page).response["violations"] == []
    recipe = page.locator("#xpos_viz").text_content()
    assert json.loads(recipe) == json.loads(RECIPE)


def test_a_page_plays_and_stops(visit, maps):
    page = visit(animation_html(maps, ENGLISH))
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("slider")).to_have_value("2")
    assert page.get_by_role("button").inner_text() == "▶ Play"
    page.get_by_role("button").click()
    assert page.locator("output").inner_text() == "B 1"
    page.get_by_role("button", name="Stop").click()
    assert page.get_by_role("button").inner_text() == "▶ Play"


def test_a_page_holds_all_frames_and_no_address(maps):
    written = animation_html(maps, ENGLISH)
    [told] = re.findall(r'id="sweep">(.*?)</script>', written)
    assert [frame["value"] for frame in json.loads(told)["frames"]] == list(maps.written)
    ours = written.replace(
        re.findall(r"(?s)<script type=\"text/javascript\">.*?</script>", written)[0], ""
    )
    assert not re.search(r"https?:|(?:src|href)=(?!\"data:)", ours)
    assert "default-src 'none'" in ours


def test_words_that_begin_alike_are_not_taken_for_each_other():
    def title(*lines) -> Any:
        framed: Any = titled(replace(curves, title=lines), "B 1", ENGLISH)
        return framed.title

    [curves] = on_one_scale([drawn("compare", "decay", SHORT)])
    assert title("B 15, γ 1") == ("B 15, γ 1 · B 1",)
    assert title("B 1, γ 1") == ("B 1, γ 1",)
