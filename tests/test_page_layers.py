"""The page of layers without a browser: what is drawn, ranked and said, and where it leads."""

import json
from urllib.parse import parse_qsl

import numpy as np
import pytest
import torch

from tests import apptest
from tests.apptest import MADE, SHORT, address, again, alts, control, words
from xpos_viz import Capture, rope, xpos
from xpos_viz.figures.layers import heads_map
from xpos_viz.inputs import Sample
from xpos_viz.inputs.captured import keep
from xpos_viz.inputs.sample import sample_capture
from xpos_viz.studies.changes import changes, of_text
from xpos_viz.texts import LANGUAGES, texts

pytestmark = pytest.mark.usefixtures("steady")

EN = texts("en")


def opened(parameters, language="en"):
    """The page at an address, once its work is done."""
    page = apptest.opened("layers", parameters | {"lang": language})
    for _ in range(100):  # each run waits a moment for long work
        if not page.get("progress"):
            break
        page.run()
    return page


def leads(page):
    """Where the link to the chosen head leads, and what it says."""
    (link,) = (each.proto for each in page.get("page_link") if "menu_book" in each.proto.icon)
    return link.page, link.label, dict(parse_qsl(link.query_string))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_text_has_a_map_a_ranking_and_sentences(language):
    page, text = opened(SHORT, language), texts(language)
    found = of_text(Sample("pronoun", 8, 2), xpos(64, base=1e5, scale_base=8.0))
    grid = heads_map(found, Sample("pronoun", 8, 2), "variation", text)
    assert alts(page) == [grid.alt]
    (ranking,) = page.dataframe
    assert list(zip(ranking.value["layer"], ranking.value["head"], strict=True)) == found.largest
    assert ranking.value["total_variation"].iloc[0] == found.total_variation.max()
    assert text("layers.learnt") in words(page)
    (said,) = (m.value for m in page.markdown if m.value.startswith("- "))
    assert len(said.split("\n")) == 5
    assert str(int((found.total_variation > 0.1).sum())) in said


def test_the_sentences_are_those_of_the_numbers():
    page = opened(SHORT)
    found = changes(sample_capture("pronoun"), scale_base=8.0)
    layer, head = found.largest[0]
    said = words(page)
    assert f"Layer {layer}, head {head} changes most: " in said
    moved = found.total_variation
    median = f"{100 * np.median(moved):.1f}\u00a0%"
    many = int((moved > 0.1).sum())
    assert (
        f"Of 45 heads, {many} move more than a tenth of their attention; the median head " in said
    )
    assert f"moves {median}." in said
    nearer = int((found.distance_after < found.distance_before).sum())
    assert f"{nearer} of them read nearer" in said
    before, after = (int((x > 0.5).sum()) for x in (found.sink_before, found.sink_after))
    assert f"attention: {before} before, {after} with the decay" in said
    rows = moved.mean(1)
    most = found.layers[int(rows.argmax())]
    assert f"to {100 * rows.max():.1f}\u00a0% (layer {most})." in said


def test_the_measure_is_kept_in_the_address():
    page = opened(SHORT)
    page = again(control(page, "measure").set_value("distance"))
    assert address(page) == SHORT | {"lang": "en", "measure": "distance"}
    (alt,) = alts(page)
    assert alt.startswith("Change of mean distance in 5 layers of 9 heads")


def test_a_link_opens_the_chosen_head_in_tokens():
    page = opened(SHORT | {"gamma": "0.7", "show": "layer,head"})
    page = again(control(page, "layer").set_value(16))
    page = again(control(page, "head").set_value(5))
    where, label, parameters = leads(page)
    assert label == "Open layer 16, head 5 in Tokens"
    assert parameters == address(page)
    assert (parameters["layer"], parameters["head"], parameters["gamma"]) == ("16", "5", "0.7")
    assert where == "tokens"


def test_made_queries_and_keys_have_no_text():
    page = opened(MADE)
    assert [info.value for info in page.info] == [EN("tokens.no_text")]
    assert not alts(page)
    assert page.button(key="open_text").label == EN("tokens.open")


def test_a_model_that_fades_already_is_told_apart():
    q, k = torch.ones(1, 2, 4, 8), torch.ones(1, 2, 4, 8)
    data = keep(Capture(q, k, encodings=(xpos(8),)))
    page = opened({"source": "capture", "data": data})
    assert [info.value for info in page.info] == [EN("layers.faded")]
    assert not alts(page)


@pytest.mark.parametrize("tokens", [1, 2])
def test_few_tokens(tokens):
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(2, 2, tokens, 8, generator=generator) for _ in range(2))
    page = opened({"source": "capture", "data": keep(Capture(q, k, encodings=(rope(8),)))})
    (alt,) = alts(page)
    assert alt.endswith(EN("layers.alone")) == (tokens == 1)
    assert "nan" not in json.dumps([m.value for m in page.markdown])
