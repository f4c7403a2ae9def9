"""Files of figures: of every kind, the same each time, and with nothing left behind."""

import gc
import io
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.style
import pypdfium2
import pytest
from matplotlib._pylab_helpers import Gcf
from matplotlib.colors import to_hex
from PIL import Image

from tests import drawn
from tests.figures.paper.sheets import DPI, INK, checkered, decay, each_kind, line, png
from xpos_viz import nope, rope
from xpos_viz.figures.paper_pen import KINDS, draw, save
from xpos_viz.inputs import Random
from xpos_viz.texts import LANGUAGES


@each_kind
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_draws_every_picture(kind, language):
    for description in (
        drawn.maps(language=language)[1],
        drawn.maps(Random(20), (nope(8), rope(8)), language=language, stage="weights")[1],
        decay(language),
        decay(language, logarithmic=True),
    ):
        content = save(description, kind)
        assert content.startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[kind])


@each_kind
def test_the_same_picture_is_the_same_file(kind):
    """Whatever the user's own settings of Matplotlib are, and they stay."""
    pictures = (checkered(5), checkered(70), line([1.0, 2.0]))
    before = [save(picture, kind) for picture in pictures]
    theirs = {"text.usetex": True, "font.size": 30, "svg.fonttype": "path", "axes.grid": True}
    with matplotlib.style.context(["dark_background", theirs]):
        assert [save(picture, kind) for picture in pictures] == before
        assert matplotlib.rcParams["font.size"] == 30


def test_a_png_fits_a_slide():
    _, maps = drawn.maps()
    picture = Image.open(io.BytesIO(save(maps, "png")))
    assert picture.size == (2880, 1620)
    assert picture.info["dpi"] == pytest.approx((DPI, DPI), abs=1)
    assert picture.mode == "RGB"
    assert to_hex(png(save(maps, "png"))[0, 0]) == INK.page


def test_an_unknown_kind_lists_the_legal_ones():
    with pytest.raises(ValueError) as caught:
        save(line([1.0]), "jpg")
    assert str(caught.value) == "unknown kind of file 'jpg'; use one of: png, svg, pdf."


def test_files_carry_the_alternative_text_and_no_date():
    _, maps = drawn.maps(language="zh")
    picture = Image.open(io.BytesIO(save(maps, "png")))
    assert (picture.info["Title"], picture.info["Description"]) == ("scores", maps.alt)
    root = ElementTree.fromstring(save(maps, "svg"))
    described = [node.text for node in root.iter() if node.tag.endswith("description")]
    assert described == [maps.alt]
    assert not [node for node in root.iter() if node.tag.endswith("}date")]
    with pypdfium2.PdfDocument(save(maps, "pdf")) as document:
        metadata = document.get_metadata_dict()
    assert (metadata["Title"], metadata["Subject"]) == ("scores", maps.alt)
    assert not metadata["CreationDate"]


def test_threads_draw_at_the_same_time():
    jobs = [(picture, kind) for picture in (checkered(3), line([1.0, 2.0])) for kind in KINDS]
    alone = [save(*job) for job in jobs]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(lambda job: save(*job), jobs * 2)) == alone * 2


def test_figures_do_not_pile_up():
    figure = draw(line([1.0, 2.0]))
    kept = weakref.ref(figure)
    assert not Gcf.figs
    del figure
    gc.collect()
    assert kept() is None


PROGRAM = """
import sys
import numpy as np
from xpos_viz.figures.description import Curve, Curves
from xpos_viz.figures.paper_pen import save
save(Curves("n", "alt", ("t",), "x", "y", False, (Curve("g", np.ones(2), np.ones(2)),)), "pdf")
print(*({"matplotlib.pyplot", "plotly", "kaleido", "streamlit"} & set(sys.modules)))
"""


def test_neither_pyplot_nor_a_browser_is_loaded():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert not done.stdout.strip()
