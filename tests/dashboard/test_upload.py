"""A file of one's own in a browser: dropped, drawn, refused, asked for, and never markup."""

import os
import tempfile
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.dashboard.page import parameters, select, settled, shows
from tests.dashboard.server import becomes
from xpos_viz import Capture, apply_encoding, rope
from xpos_viz.inputs.captured import keep
from xpos_viz.inputs.files import capture_bytes
from xpos_viz.inputs.sample import sample_capture
from xpos_viz.texts import LANGUAGES, texts

EN = texts("en")
MIME = "application/octet-stream"
HOSTILE = (
    "<script>document.title='evil'</script>",
    " <img src=x onerror=document.title='evil'>",
    " **bold**",
    " [a](https://example.org) $x$",
    "\u202eevil\x1b[31m",
    " :red[x]",
)


def drawer(page):
    """The place of one's own file, unfolded."""
    place = page.locator(".st-key-own")
    if not place.locator("input[type=file]").count():
        place.locator("summary").click()
    place.locator("input[type=file]").wait_for(state="attached")
    settled(page)
    return place


def drop(page, content, name="mine.npz"):
    """Give a file to the page."""
    file = {"name": name, "mimeType": MIME, "buffer": content}
    drawer(page).locator("input[type=file]").set_input_files(file)


def hostile():
    """A capture whose words are markup to whom does not take care."""
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(1, 2, len(HOSTILE), 64, generator=generator)
    model = "<img src=x> **bold** [a](b)"
    return Capture(q, q, tokens=HOSTILE, model=model, text="".join(HOSTILE))


def test_a_file_is_drawn_and_its_link_draws_it_again(visit):
    page, capture = visit({"name": "pronoun"}), sample_capture("pronoun")
    keep(capture)  # here, to compute what the page must show
    drop(page, capture_bytes(capture))
    address = {"source": "capture", "data": capture.hash}
    becomes(lambda: parameters(page), address, "the address")
    shows(page, address)
    assert "28 tokens" in drawer(page).inner_text()
    address |= {"layer": "8", "head": "2"}
    other = visit(address)
    shows(other, address)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_way_to_choose_a_file_is_in_words_of_the_page(visit, language):
    text = texts(language)
    page = visit({"lang": language, "name": "pronoun"})
    button = drawer(page).get_by_test_id("stFileUploaderDropzone").get_by_role("button")
    shown = button.locator("p").evaluate(
        "p => [getComputedStyle(p).fontSize, getComputedStyle(p, '::after').content]"
    )
    assert shown == ["0px", f'"{text("own.choose")}"']
    assert "per file" not in drawer(page).inner_text()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x80\x04junk", "got a pickle"),
        (b"PK\x03\x04" + bytes(2_000_000), "not a zip file"),
        (capture_bytes(sample_capture("pronoun"))[:-2000], "zip"),
    ],
    ids=["pickle", "no zip", "cut off"],
)
def test_a_file_is_refused_with_the_reason_beside_it(visit, content, words):
    page = visit({"name": "pronoun"})
    drop(page, content)
    alert = drawer(page).get_by_role("alert")
    alert.wait_for()
    assert words in alert.inner_text()
    assert parameters(page) == {"name": "pronoun"}


def test_a_rotation_is_undone(visit):
    capture = sample_capture("pronoun")
    q, k = apply_encoding(
        capture.q.double(), capture.k.double(), rope(64, base=500.0), layout="half"
    )
    page = visit({})
    drop(page, capture_bytes(replace(capture, q=q, k=k, encodings=(None,))))
    drawer(page).get_by_text(EN("own.looks", base="562", pairs="i and i + d/2")).wait_for()
    drawer(page).get_by_text(EN("own.rotated_words.after"), exact=True).click()
    base = drawer(page).get_by_role("spinbutton")
    base.fill("500")
    base.press("Enter")
    settled(page)
    becomes(base.input_value, "500", "the base")
    undone = replace(capture, q=q, k=k, encodings=(None,)).unrotated(rope(64, base=500.0))
    becomes(lambda: parameters(page)["data"], undone.hash, "the data before the rotation")


def test_an_unclear_order_is_asked_for(visit, tmp_path):
    x = np.random.default_rng(0).normal(size=(4, 4, 6, 6)).astype(np.float32)
    np.savez(tmp_path / "x.npz", q=x, k=x)
    page = visit({})
    drop(page, (tmp_path / "x.npz").read_bytes())
    label = page.get_by_text(EN("own.order"), exact=True)
    label.wait_for()
    box = page.get_by_test_id("stSelectbox").filter(has=label)
    box.get_by_role("combobox").click()
    page.get_by_role("option").filter(has_text="layers 4 × heads 4 × tokens 6 × width 6").click()
    becomes(lambda: parameters(page).get("source"), "capture", "the source")
    settled(page)


@pytest.mark.parametrize("path", ["", "/tokens"])
def test_hostile_words_are_letters(visit, path):
    page = visit({})
    drop(page, capture_bytes(hostile()))
    becomes(lambda: parameters(page).get("source"), "capture", "the source")
    if path:
        name = EN(f"pages.{path[1:]}.link")
        page.locator(".st-key-links").get_by_role("link", name=name, exact=True).click()
        page.get_by_role("heading", name=EN(f"pages.{path[1:]}.title")).wait_for()
    settled(page)
    assert "evil" not in page.title()
    assert page.locator("img[src=x]").count() == 0
    assert page.locator("a[href*='example.org']").count() == 0
    body = page.locator("body").inner_text()
    assert "**bold**" in body
    assert not {"\u202e", "\x1b"} & set(body)


def test_data_that_are_not_here_are_asked_for(visit):
    page = visit({"source": "capture", "data": "0" * 64, "lang": "en"})
    alert = page.get_by_role("alert").filter(has_text="upload it again")
    alert.wait_for()
    assert "000000000000…" in alert.inner_text()
    drop(page, capture_bytes(sample_capture("pronoun")))
    becomes(lambda: parameters(page).get("source"), "capture", "the source")
    settled(page)
    becomes(alert.count, 0, "no notice")


def test_one_comes_back_to_what_one_brought(visit):
    page, capture = visit({}), sample_capture("pronoun")
    drop(page, capture_bytes(capture))
    becomes(lambda: parameters(page).get("data"), capture.hash, "the data")
    settled(page)
    select(page, "source", EN("ui.sources.random"))
    becomes(lambda: parameters(page), {"source": "random"}, "the address")
    settled(page)
    select(page, "source", EN("ui.sources.capture"))
    becomes(lambda: parameters(page).get("data"), capture.hash, "the data")


def test_nothing_is_left_on_disk(visit):
    def files():
        walk = os.walk(tempfile.gettempdir())  # of which others take their folders away meanwhile
        return {name for _, _, names in walk for name in names if "left-behind" in name}

    before = files()
    page = visit({})
    drop(page, capture_bytes(sample_capture("tidebook")), "left-behind.npz")
    becomes(lambda: parameters(page).get("source"), "capture", "the source")
    settled(page)
    assert files() == before
