"""The dashboard's downloads are opened and checked."""

from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pypdfium2
import pytest
from PIL import Image

from tests.dashboard.page import SHORT, after, asked, choose, parameters, press, settled, shows
from tests.dashboard.server import becomes
from xpos_viz import run
from xpos_viz.comparison import compare
from xpos_viz.encoding.steps import GAMMAS
from xpos_viz.figures.files import SIZES
from xpos_viz.results import curves
from xpos_viz.texts import texts
from xpos_viz.theme import PALETTES

pytestmark = pytest.mark.browser
PAGE, DPI = (10.0, 5.625), SIZES["page"].dpi


def headed(table):
    """A table as a file has it, with units in its header."""
    return table.rename(columns={name: f"{name} [tokens]" for name in ("query", "key", "lag")})


def downloaded(page, kind, figure=0):
    """The content and the name of a file."""
    button = page.get_by_role("button", name=kind, exact=True).nth(figure)
    with page.expect_download() as download:
        button.click()
    return Path(download.value.path()).read_bytes(), download.value.suggested_filename


def test_downloads_are_what_they_claim(visit):
    address = SHORT | {"stage": "weights"}
    page, result = visit(address), run(asked(address))
    text = texts("en")
    state = text(
        "figure.state", stage=text("figure.stage.weights"), mask=text("figure.mask.causal")
    )

    content, name = downloaded(page, "PNG")
    assert name.endswith(".png")
    with Image.open(BytesIO(content)) as image:
        assert image.format == "PNG"
        assert image.size == tuple(round(side * DPI) for side in PAGE)
        assert image.convert("RGB").getpixel((2, 2)) == (255, 255, 255)

    content, name = downloaded(page, "SVG")
    assert name.endswith(".svg")
    root = ElementTree.fromstring(content)
    words = [
        " ".join("".join(element.itertext()).split())
        for element in root.iter()
        if element.tag.endswith("}text")
    ]
    for title in ("RoPE", "XPos", "XPos − RoPE", "base 100,000, γ 0.4, B 8", state):
        assert title in words

    content, name = downloaded(page, "PDF")
    assert name.endswith(".pdf")
    assert content.startswith(b"%PDF")
    with pypdfium2.PdfDocument(content) as document:
        assert len(document) == 1
        assert document[0].get_size() == pytest.approx([72 * side for side in PAGE], abs=1)
        said = document[0].get_textpage().get_text_range()
        assert state in said
        pixels = np.asarray(document[0].render().to_numpy())
        assert pixels.mean() > 128
        assert pixels.std() > 10

    content, name = downloaded(page, "CSV")
    assert name.endswith(".csv")
    pd.testing.assert_frame_equal(
        pd.read_csv(BytesIO(content)), headed(compare(result).table()), check_exact=True
    )

    content, name = downloaded(page, "CSV", figure=1)
    assert name.endswith(".csv")
    pd.testing.assert_frame_equal(
        pd.read_csv(BytesIO(content)), headed(curves(result.experiment)), check_exact=True
    )
    for kind, start in (("PNG", b"\x89PNG"), ("SVG", b"<?xml"), ("PDF", b"%PDF")):
        assert downloaded(page, kind, figure=1)[0].startswith(start)


def test_downloads_follow_what_was_moved_and_the_view_is_saved(visit):
    page = visit(SHORT)
    press(page, "gamma")
    shows(page, moved := SHORT | {"gamma": after(GAMMAS, 0.4)})
    choose(page, "difference", "ratio")
    page.get_by_text(texts("en")("livemap.more"), exact=True).click()
    choose(page, "colours", "teal_brown")
    becomes(
        lambda: parameters(page),
        moved | {"difference": "ratio", "colours": "teal_brown"},
        "address",
    )
    settled(page)
    content, _ = downloaded(page, "CSV")
    table = headed(compare(run(asked(moved)), "ratio").table())
    pd.testing.assert_frame_equal(pd.read_csv(BytesIO(content)), table, check_exact=True)
    content = downloaded(page, "SVG")[0].decode()
    assert "|XPos| / |RoPE|" in content
    assert PALETTES["teal_brown"].clipped["diverging"][1] in content
    page.get_by_text(texts("en")("livemap.more"), exact=True).click()
    content, name = downloaded(page, texts("en")("livemap.png"))
    assert name == "xpos_viz-live.png"
    with Image.open(BytesIO(content)) as image:
        assert image.format == "PNG"
        assert image.size[0] > page.locator(".lm-maps").bounding_box()["width"]
        assert image.convert("RGB").getpixel((2, 2)) == (255, 255, 255)
