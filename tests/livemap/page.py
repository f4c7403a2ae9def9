"""The page that shows the live map alone: what it shows, and how it is read."""

import json
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.pages import drawn, pixels, read
from xpos_viz import Experiment, rope, run, xpos
from xpos_viz.comparison import compare
from xpos_viz.inputs import Random, Sample
from xpos_viz.livemap import payload
from xpos_viz.texts import texts
from xpos_viz.theme import Mode

SHORT = Experiment(
    (rope(64, base=1e5), xpos(64, base=1e5, scale_base=8.0)), Sample("pronoun", 8, 2)
)
LONG = Experiment((rope(64), xpos(64)), Random(600, keys="independent"))
CORE = 1e-4  # relative: the browser's float32 against the core's float64


def at(experiment, **view):
    """The same experiment seen otherwise."""
    return replace(experiment, view=replace(experiment.view, **view))


@cache
def described(experiment, language="en", mode: Mode = "light", look=None, own=()):
    return payload(experiment, texts(language), mode, look, own)


def without_data(described):
    """The same for a browser that has the vectors and labels."""
    return {key: value for key, value in described.items() if key not in ("q", "k", "labels")}


def names(described):
    """The names of the parts of a payload."""
    return [described[name] for name in ("data", "words", "streaming")]


def unpacked(data):
    """A packed payload, read by its own description."""
    length = int.from_bytes(data[:4], "little")
    assert length % 4 == 0
    arrays = data[4 + length :]

    def placed(value):
        if set(value) != {"$bytes"}:
            return value
        start, size = value["$bytes"]
        assert start % 4 == 0
        return arrays[start : start + size]

    return json.loads(data[4 : 4 + length], object_hook=placed)


def picture(page, name="canvas"):
    """The pixels of the maps, or of what lies over or under them, (rows, columns, 4)."""
    return pixels(page.locator(f".lm-{name}").last)


def events(page):
    return page.evaluate("window.events")


def point(page, x, y):
    """Move the pointer to a place in the maps, pixels."""
    page.locator(".lm-maps").scroll_into_view_if_needed()
    box = page.locator(".lm-maps").bounding_box()
    page.mouse.move(box["x"] + x, box["y"] + y)
    drawn(page)


def reading(page):
    """What is read: query, key and lag, and the three values; none where it is masked."""
    drawn(page)
    place = page.locator(".lm-place").inner_text()
    values = page.locator(".lm-value").all_inner_texts()
    return place, [read(value) for value in values if value]


def ends(text):
    """The first and last token of a side, of 12 or of 12–15."""
    first, _, last = text.partition("–")
    return int(first), int(last or first)


def expect_reading(page, experiment):
    """The read-out says what the core says of that cell."""
    place, values = reading(page)
    [(query, key, lag)] = re.findall(r"^query ([\d–]+).*key ([\d–]+).*lag ([\d.−]+)$", place)
    m, n = ends(query), ends(key)
    result = run(experiment)
    row, column = m[0] // result.block, n[0] // result.block
    assert m[1] == min(m[0] + result.block, experiment.inputs.tokens) - 1
    assert read(lag) == (sum(m) - sum(n)) / 2
    tables = [*(measurement.values for measurement in result.measurements), compare(result).values]
    largest = np.nanmax(np.abs(tables[0]))
    for value, table in zip(values, tables, strict=True):
        assert value == pytest.approx(table[row, column], rel=CORE, abs=1e-6 * largest)
    return m, n, values
