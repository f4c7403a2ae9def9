"""Bundles: all of a page in one file, with its sources."""

import json
import re
from io import BytesIO
from zipfile import ZipFile

import pytest

from tests.export.taken import PAGES, shown
from xpos_viz.encoding import REGISTRY, Encoding
from xpos_viz.export import FORMS, bundle, reproduce
from xpos_viz.export.citations import bibliography
from xpos_viz.state import from_address


@pytest.mark.parametrize(("page", "language"), [*((page, "zh") for page in PAGES), ("pairs", "en")])
def test_a_bundle_has_everything_and_can_be_rebuilt(page, language):
    state, pictures = shown(page, language)
    shares = []
    content = bundle(page, state, language, report=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    with ZipFile(BytesIO(content)) as archive:
        names = set(archive.namelist())
        files = {f"{picture.name}.{form}" for picture in pictures for form in FORMS}
        rest = {"captions.txt", "references.bib", "recipe.json", "rebuild.ipynb"}
        assert names == files | rest
        captions = archive.read("captions.txt").decode()
        notebook = json.loads(archive.read("rebuild.ipynb"))
        assert archive.read("references.bib").decode().count("@misc{") >= 1
    assert all(picture.description.alt in captions for picture in pictures)
    made = reproduce(content)
    assert made.same
    assert [each.name for each in made.pictures] == [each.name for each in pictures]
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)


def test_a_page_without_a_picture_has_no_bundle():
    state, _ = from_address({"curves": ""})
    with pytest.raises(ValueError) as caught:
        bundle("decay", state, "en")
    message = "the page 'decay' shows no picture with these settings; choose more."
    assert str(caught.value) == message


def test_every_family_is_cited_once():
    encodings = [Encoding(name, (("head_dim", 64),)) for name in REGISTRY if "t5" not in name]
    entries = bibliography([*encodings, *encodings])
    keys = re.findall(r"@misc\{(\w+),", entries)
    assert len(set(keys)) == len(keys) == 10
    for family in REGISTRY.values():
        number = re.search(r"arXiv:([\d.]+\d)", family.source)
        assert number is not None
        assert number[1] in entries or "t5" in family.name
