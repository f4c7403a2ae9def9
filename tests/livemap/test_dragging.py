"""A finger on the controls of the live map, and what the host hears."""

from dataclasses import replace

import numpy as np
import pytest

from tests.livemap.page import (
    CORE,
    LONG,
    SHORT,
    at,
    described,
    events,
    expect_reading,
    names,
    picture,
    point,
    reading,
    without_data,
)
from tests.pages import drawn, grab, part, slider
from xpos_viz import run
from xpos_viz.comparison import compare
from xpos_viz.encoding.steps import BASES, GAMMAS, SCALE_BASES
from xpos_viz.figures.words import rounded
from xpos_viz.texts import texts

pytestmark = pytest.mark.browser


def test_a_drag_redraws_before_release_and_commits_once(visit):
    page = visit(described(SHORT))
    before = picture(page)
    for number, (key, share) in enumerate((("gamma", 0.8), ("scale_base", 0.9)), 1):
        grab(page, key, share)
        during = picture(page)
        assert (during != before).mean() > 0.02
        assert len(events(page)) == number - 1
        page.mouse.up()
        drawn(page)
        own = np.s_[:, : during.shape[1] // 2]  # the colours of the difference end elsewhere now
        assert np.array_equal(picture(page)[own], during[own])
        steps = {"gamma": GAMMAS, "scale_base": SCALE_BASES}[key]
        [commit] = events(page)[number - 1 :]
        assert commit["number"] == number
        assert commit["holds"] == names(described(SHORT))
        assert list(commit["changes"]) == [key]
        assert commit["changes"][key] in steps
        before = during


def noted(page):
    """The note about where colours end."""
    drawn(page)
    return page.locator(".lm-notes").inner_text()


def ending(experiment, rest=None):
    """That note, by the core: the difference may still have the limit that it had at rest."""
    limits = {
        "limit": run(experiment).limit,
        "difference": compare(run(rest or experiment)).limit,
    }
    words = texts("en")
    return words("figure.limits", **{name: rounded(limit) for name, limit in limits.items()})


@pytest.mark.parametrize("experiment", [SHORT, at(SHORT, stage="weights")])
def test_the_colours_of_the_difference_end_where_they_did_while_it_moves(experiment, visit):
    page = visit(described(experiment))
    assert ending(experiment) in noted(page)
    grab(page, "scale_base", 0.9)
    first, last = experiment.encodings
    scale_base = float(slider(page, "scale_base").get_attribute("aria-valuetext").replace(",", ""))
    moved = replace(experiment, encodings=(first, last.replace(scale_base=scale_base)))
    assert ending(moved, experiment) != ending(moved)
    assert ending(moved, experiment) in noted(page)
    page.mouse.up()
    assert ending(moved) in noted(page)


def test_a_base_of_its_own_moves_one_encoding(visit):
    page = visit(described(SHORT, own=("base",)))
    page.mouse.click(150, 450)
    _, before = reading(page)
    assert len(before) == 3
    slider(page, "xpos_base").press("ArrowRight")
    drawn(page)
    [commit] = events(page)
    own = min(base for base in BASES if base > 1e5)
    assert commit["changes"] == {"xpos_base": own}
    moved = replace(SHORT, encodings=(SHORT.encodings[0], SHORT.encodings[1].replace(base=own)))
    _, _, values = expect_reading(page, moved)
    assert values[0] == before[0]
    assert values[1] != before[1]


def test_a_drag_that_ends_where_it_began_says_nothing(visit, host):
    page = visit(described(SHORT))
    start = slider(page, "gamma").input_value()
    box = slider(page, "gamma").bounding_box()
    thumb = box["x"] + 9 + (box["width"] - 18) * float(start) / (len(GAMMAS) - 1)
    page.mouse.move(thumb, box["y"] + 14)
    page.mouse.down()
    page.mouse.move(thumb + 60, box["y"] + 14, steps=3)
    page.mouse.move(thumb, box["y"] + 14, steps=3)
    page.mouse.up()
    assert slider(page, "gamma").input_value() == start
    assert events(page) == []
    moved = replace(SHORT, encodings=(SHORT.encodings[0], SHORT.encodings[1].replace(gamma=1.0)))
    page.evaluate(f"told({host.offer(without_data(described(moved)))})")
    page.wait_for_function("document.querySelector('[data-key=gamma]').ariaValueText === '1'")


def test_fast_drags_are_committed_one_by_one(visit):
    page = visit(described(SHORT))
    for share in (0.2, 0.4, 0.6, 0.8, 1.0):
        grab(page, "gamma", share)
        page.mouse.up()
    commits = events(page)
    assert [commit["number"] for commit in commits] == [1, 2, 3, 4, 5]
    assert commits[-1]["changes"] == {"gamma": GAMMAS[-1]}
    assert all(list(commit["changes"]) == ["gamma"] for commit in commits)


def test_what_is_told_meanwhile_does_not_pull_the_finger_back(visit, host):
    page = visit(described(SHORT))
    grab(page, "gamma", 0.9)
    held = slider(page, "gamma").input_value()
    other = replace(
        SHORT, encodings=(SHORT.encodings[0], SHORT.encodings[1].replace(gamma=0.1, scale_base=64))
    )
    answer = without_data(described(other)) | {"echo": 0}
    page.evaluate(f"told({host.offer(answer)})")
    page.wait_for_function("document.querySelector('[data-key=scale_base]').ariaValueText === '64'")
    assert slider(page, "gamma").input_value() == held
    page.mouse.up()
    page.evaluate(f"told({host.offer(answer)})")  # it does not know of the release yet
    drawn(page)
    assert slider(page, "gamma").input_value() == held
    page.evaluate(f"told({host.offer(answer | {'echo': 1})})")  # and this refuses it
    page.wait_for_function("document.querySelector('[data-key=gamma]').ariaValueText === '0.1'")


def test_switches_commit_at_once(visit):
    page = visit(described(SHORT))
    page.get_by_text(texts("en")("ui.stages.weights"), exact=True).click()
    for choice, value in (("mask", "none"), ("difference", "ratio"), ("axis", "log")):
        name = texts("en")(f"ui.{choice}")
        page.get_by_role("combobox", name=name).select_option(value)
    assert [commit["changes"] for commit in events(page)] == [
        {"stage": "weights"},
        {"mask": "none"},
        {"difference": "ratio"},
        {"axis": "log"},
    ]
    point(page, 150, 200)
    _, values = reading(page)
    result = run(at(SHORT, stage="weights", mask="none"))
    assert any(np.isclose(values[0], result.measurements[0].values, rtol=CORE).ravel())


def test_the_window_is_shown_while_its_ends_are_moved(visit):
    page = visit(described(LONG))
    box = slider(page, "stop").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 9, box["y"] + 14)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 14, steps=4)
    seen = part(page)
    assert 250 < seen[2] < 350
    page.mouse.up()
    [commit] = events(page)
    assert commit["changes"] == {"stop": int(seen[2])}


def test_long_weights_wait_while_dragging_and_come_with_the_answer(visit, host):
    experiment = at(LONG, stage="weights")
    page = visit(described(experiment))
    point(page, 150, 280)
    expect_reading(page, experiment)
    grab(page, "gamma", 0.9)
    assert page.locator(".lm-root").get_attribute("data-state") == "waiting"
    page.mouse.up()
    drawn(page)
    assert page.locator(".lm-root").get_attribute("data-state") == "waiting"
    [commit] = events(page)
    moved = replace(
        experiment,
        encodings=(LONG.encodings[0], LONG.encodings[1].replace(**commit["changes"])),
    )
    answer = without_data(described(moved)) | {"echo": commit["number"]}
    page.evaluate(f"told({host.offer(answer)})")
    page.wait_for_selector(".lm-root[data-state=ready]")
    point(page, 150, 280)
    expect_reading(page, moved)


def pull(page, token, by):
    """Press the track of the tokens at one, and move by so many pixels."""
    box = page.locator(".lm-track").bounding_box()
    tokens = int(slider(page, "stop").get_attribute("max"))
    x, y = box["x"] + 9 + (box["width"] - 18) * token / tokens, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by, y, steps=8)
    page.mouse.up()
    drawn(page)


def window(page):
    """The values of both handles."""
    return [int(slider(page, key).input_value()) for key in ("start", "stop")]


@pytest.mark.parametrize(
    ("start", "stop", "by", "moved"),
    [
        (0, 2, 90, "stop"),
        (0, 1, 90, "stop"),
        (300, 302, 60, "stop"),
        (300, 302, -60, "start"),
        (300, 305, -60, "start"),
        (598, 600, -60, "start"),
        (598, 600, 60, ""),
        (0, 600, -60, "stop"),
    ],
)
def test_the_handle_that_can_follow_is_taken(start, stop, by, moved, visit):
    page = visit(described(at(LONG, start=start, stop=None if stop == 600 else stop)))
    pull(page, stop, by)
    box = page.locator(".lm-track").bounding_box()
    far = by * 600 / (box["width"] - 18)
    before = {"start": start, "stop": stop}
    after = dict(zip(before, window(page), strict=True))
    changes = {key: after[key] - before[key] for key in before if after[key] != before[key]}
    assert changes == ({moved: pytest.approx(far, abs=8)} if moved else {})
    told = [commit["changes"] for commit in events(page)]
    assert told == ([{moved: after[moved]}] if moved else [])
    if moved:
        assert page.evaluate("document.activeElement.dataset.key") == moved


def test_a_drag_that_turns_round_takes_the_handle_that_can_follow(visit):
    page = visit(described(at(LONG, stop=2)))
    box = page.locator(".lm-track").bounding_box()
    page.mouse.move(box["x"] + 10, box["y"] + 14)
    page.mouse.down()
    page.mouse.move(box["x"] + 4, box["y"] + 14, steps=3)  # no token is there
    page.mouse.move(box["x"] + 100, box["y"] + 14, steps=3)
    page.mouse.up()
    assert window(page)[0] == 0
    assert window(page)[1] > 100


def test_a_press_beside_the_handles_brings_the_nearest(visit):
    page = visit(described(at(LONG, start=100, stop=400)))
    for token, wanted in ((200, [200, 400]), (550, [200, 550]), (10, [10, 550])):
        pull(page, token, 0)
        assert window(page) == pytest.approx(wanted, abs=2)
    before = window(page)
    pull(page, before[1] + 5, 0)  # on the handle, beside its middle
    assert window(page) == before


@pytest.mark.parametrize(
    ("start", "stop", "focus", "key", "after"),
    [
        (0, 2, "start", "ArrowRight", [0, 3]),
        (300, 302, "stop", "ArrowLeft", [299, 302]),
        (300, 302, "start", "ArrowLeft", [299, 302]),
        (300, 302, "start", "End", [300, 600]),
        (300, 302, "stop", "Home", [0, 302]),
        (300, 400, "start", "End", [398, 400]),
        (0, 1, "start", "ArrowRight", [0, 2]),
        (0, 2, "stop", "ArrowLeft", [0, 2]),
    ],
)
def test_a_key_that_a_handle_cannot_follow_moves_the_other(start, stop, focus, key, after, visit):
    page = visit(described(at(LONG, start=start, stop=stop)))
    slider(page, focus).press(key)
    drawn(page)
    assert window(page) == after
    pairs = zip(("start", "stop"), (start, stop), after, strict=True)
    moved = [name for name, old, new in pairs if old != new]
    assert page.evaluate("document.activeElement.dataset.key") in (moved or [focus])
