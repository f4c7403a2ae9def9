"""Everything of a page in one archive: pictures, numbers, words, sources, and how to rebuild it."""

import json
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import torch

from xpos_viz.encoding import Encoding
from xpos_viz.export.citations import bibliography
from xpos_viz.export.files import FORMS, make
from xpos_viz.export.held import DATA, SIDECAR
from xpos_viz.export.recipe import Recipe
from xpos_viz.figures.files import Paper
from xpos_viz.inputs import Captured
from xpos_viz.inputs.files import capture_bytes
from xpos_viz.pictures import PICTURES, Picture
from xpos_viz.pooling.sides import Report
from xpos_viz.state import State
from xpos_viz.texts import texts

_PACKED = ("png", "pdf", "parquet", "npz")  # compressing them again gains nothing


def bundle(
    page: str,
    state: State,
    language: str,
    *,
    link: str = "",
    paper: Paper | None = None,
    report: Report = lambda _: None,
) -> bytes:
    """Return a ZIP archive of all that a page shows.

    Parameters
    ----------
    page
        A key of :data:`xpos_viz.pictures.PICTURES`.
    state, language
        What is set, and how it is said.
    link
        The page's address, with its host.
    paper
        Size, ground and caption of what is drawn.
    report
        Is told the share of the work that is done.

    Raises
    ------
    ValueError
        If the page shows no picture with these settings.
    """
    pictures = PICTURES[page](state, texts(language))
    if not pictures:
        raise ValueError(f"the page {page!r} shows no picture with these settings; choose more.")
    whole, file = Recipe.of(page, pictures, state, language, link=link, paper=paper), BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for done, picture in enumerate(pictures):
            recipe = Recipe.of(page, (picture,), state, language, link=link, paper=paper)
            for form in FORMS:
                name = f"{picture.name}.{form}"
                packing = ZIP_STORED if form in _PACKED else ZIP_DEFLATED
                archive.writestr(name, make(picture, form, recipe), packing)
            report((done + 1) / len(pictures))
        archive.writestr("captions.txt", "\n\n".join(map(caption, pictures)) + "\n")
        archive.writestr("references.bib", bibliography(_encodings(page, state)))
        archive.writestr(SIDECAR, whole.text())
        data = _data(state)
        for name, content in data.items():
            archive.writestr(name, content, ZIP_STORED)
        archive.writestr("rebuild.ipynb", notebook(whole, pictures, *data))
    return file.getvalue()


def _data(state: State) -> dict[str, bytes]:
    """The file of queries and keys that somebody brought, by its name; none of others."""
    inputs = state.experiment.inputs
    if not isinstance(inputs, Captured):
        return {}
    capture = inputs.capture
    suffix = ".safetensors" if capture.q.dtype == torch.bfloat16 else ".npz"
    return {DATA[suffix]: capture_bytes(capture, suffix)}


def caption(picture: Picture) -> str:
    """Write what a picture shows, as under a figure.

    The alternative text comes first, then what its notes say.
    """
    description = picture.description
    return f"{picture.name}: {' '.join((description.alt, *description.notes))}"


def notebook(recipe: Recipe, pictures: tuple[Picture, ...], data: str = "") -> str:
    """Write a notebook that rebuilds the pictures from the recipe and data beside it, as JSON."""
    link, version = recipe.link, recipe.versions["xpos_viz"]
    imported = "from xpos_viz import read_capture\n" if data else ""
    given = f', data=read_capture("{data}")' if data else ""
    cells = [
        _words(f"# xpos_viz: {recipe.page}\n\nMade on {recipe.date}, version {version}: `{link}`"),
        _code(
            f"from pathlib import Path\n\n{imported}"
            "from xpos_viz.export import reproduce\n"
            "from xpos_viz.figures import show\n\n"
            f'made = reproduce(Path("{SIDECAR}").read_bytes(){given})\n'
            "pictures = {picture.name: picture for picture in made.pictures}\n"
            "made.same  # whether all numbers are those of the bundle, to the last bit"
        ),
        *(
            cell
            for picture in pictures
            for cell in (
                _code(f'show(pictures["{picture.name}"].description)'),
                _code(f'pictures["{picture.name}"].table()'),
            )
        ),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    for place, cell in enumerate(cells):
        cell["id"] = f"cell-{place}"
    return json.dumps(whole, ensure_ascii=False, indent=1)


def _words(source: str) -> dict[str, object]:
    """A cell to be read."""
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def _code(source: str) -> dict[str, object]:
    """A cell to be run."""
    run = {"execution_count": None, "outputs": []}
    return {"cell_type": "code", "metadata": {}, "source": source, **run}


def _encodings(page: str, state: State) -> tuple[Encoding, ...]:
    """The encodings that a page shows."""
    if page == "decay":
        return state.drawn_curves
    chosen = {
        "pairs": ("rope", "xpos", state.pair_encoding),
        "neighbours": (state.left, state.right),
    }
    return tuple(state.encoding(name) for name in chosen.get(page, ("rope", "xpos")))
