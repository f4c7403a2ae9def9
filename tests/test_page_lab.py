"""The page of trained models, without a browser."""

import pandas as pd
import pytest

from tests import apptest
from tests.apptest import again, control, opened, words
from xpos_viz.lab.bundle import results
from xpos_viz.studies import lab as study
from xpos_viz.texts import LANGUAGES, texts

pytestmark = pytest.mark.usefixtures("steady")

EN = texts("en")
PLAIN = {"lab_size": "quick"}


def noticed(page):
    """The sentences of what is to be noticed."""
    found, *_ = [each.value for each in page.markdown if each.value.startswith("- ")]
    return [line.removeprefix("- ") for line in found.splitlines()]


@pytest.fixture
def made(monkeypatch):
    """Lets the page show results whose values of a measure are chosen, by encoding and mask."""

    def use(measure, chosen):
        table = results("quick").copy()
        for (name, mask), values in chosen.items():
            kind = (table["measure"] == measure) & (table["mask"] == mask)
            for seed, value in enumerate(values):
                table.loc[kind & (table["encoding"] == name) & (table["seed"] == seed), "value"] = (
                    value
                )
        monkeypatch.setattr(study, "results", lambda _: table)
        forget()

    def forget():
        for cached in (study._spread, study._resolutions, study.doubled):
            cached.cache_clear()

    yield use
    forget()


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_reads_as_all_pages_do(language):
    text = texts(language)
    page = opened("lab", PLAIN | {"lang": language})
    headers = [header.value for header in page.header]
    order = [
        text(key)
        for key in ("ui.notice", "reading.title", "training.title", "lab.paper", "ui.formula")
    ]
    assert headers == order
    said = noticed(page)
    assert said[-1] == text("lab.notice.limits")
    assert text("lab.paper_words") in words(page)
    (table,) = page.table
    assert [*table.value.columns] == [
        text("lab.bytes", count=n) for n in ("64", "128", "256", "512", "1,024")
    ]


def test_the_order_is_told_where_all_seeds_have_it(made):
    made(
        "excess",
        {
            ("rope", "causal"): (0.5, 0.7, 0.9),
            ("xpos_half", "causal"): (0.1, 0.2, 0.4),
            ("xpos_512", "causal"): (0.1, 0.2, 0.5),
        },
    )
    said = noticed(opened("lab", PLAIN))
    assert said[0].startswith(
        "Without blocks, at 1,024 bytes, all 3 seeds of RoPE lose more than all of XPos (B 32):"
    )
    assert "at least 0.500 bits per byte of paired excess, against 0.400 at most." in said[0]
    assert said[1] == (
        "Without blocks, at 1,024 bytes, not all 3 seeds of RoPE lose more than all of XPos "
        "(B 512) (0.500 at least, 0.500 at most): no order follows."
    )


def test_the_rescue_is_told_where_blocks_leave_less_than_a_tenth(made):
    pair = PLAIN | {"models": "rope,xpos_half"}
    whole = {
        ("rope", "causal"): (1.0, 1.0, 1.5),
        ("xpos_half", "causal"): (0.5, 0.5, 0.5),
        ("rope", "blockwise:32"): (0.0, 0.01, 0.09),
    }
    made("excess", whole | {("xpos_half", "blockwise:32"): (0.0, 0.0, 0.04)})
    values = {"names": "RoPE, XPos (B 32)", "size": 32, "most": "0.090", "before": "0.500"}
    assert EN("lab.notice.rescued", **values) in noticed(opened("lab", pair))
    made("excess", whole | {("xpos_half", "blockwise:32"): (0.0, 0.0, 0.06)})
    assert EN("lab.notice.left", **values) in noticed(opened("lab", pair))


def test_models_without_positions_are_told_apart_where_blocks_do_not_rescue_them(made):
    only, sentence = (
        PLAIN | {"models": "nope"},
        EN("lab.notice.unrescued", name="NoPE", least="0.200"),
    )
    made("excess", {("nope", "causal"): (1, 1, 1.9), ("nope", "blockwise:32"): (0.2, 0.3, 0.3)})
    assert sentence in noticed(opened("lab", only))
    made("excess", {("nope", "causal"): (1, 1, 2.1), ("nope", "blockwise:32"): (0.2, 0.3, 0.3)})
    assert sentence not in noticed(opened("lab", only))


DOUBLED = {  # change of the mean, excess, and the least and the most of a seed
    "rope": (0.2, 0.5, 0.4, 0.6),  # both say that it loses
    "xpos_half": (-0.023, 0.013, 0.011, 0.0152),
    "xpos_512": (-0.01, 0.02, 0.02, 0.02),  # one seed
    "alibi": (-0.05, 0.001, -0.001, 0.002),  # it may lose nothing
    "nope": (-0.02, -0.01, -0.02, -0.005),
}
HIDDEN = (
    "The mean hides a loss of XPos (B {b}): from 64 to 128 bytes it falls by {change}, since more "
    "bytes have enough before them. Yet the bytes from 64 to 128 lose {lost} to what lies further "
    "back than 64: paired excess is the honest measure."
)


def test_a_mean_that_falls_while_pairs_lose_is_told(monkeypatch):
    columns = ["change", "excess", "least", "most"]
    table = pd.DataFrame.from_dict(DOUBLED, "index", columns=columns)
    monkeypatch.setattr("xpos_viz.ui.lab.doubled", lambda _: table)
    told = [said for said in noticed(opened("lab", PLAIN)) if said.startswith("The mean hides")]
    assert told == [
        HIDDEN.format(b=32, change="0.023", lost="0.013 (0.011 … 0.015 over the seeds)"),
        HIDDEN.format(b=512, change="0.010", lost="0.020"),
    ]


def test_the_bundled_means_hide_what_xpos_loses():
    found = study.doubled(study.Lab("quick", study.MODELS)).to_dict("index")["xpos_half"]
    assert found["change"] < 0 < found["least"]


@pytest.mark.parametrize("first", ["rope", "xpos_half"])
def test_it_is_told_whether_resolution_sorts_the_models_as_losses_do(made, first):
    names = {"rope": "RoPE", "xpos_half": "XPos (B 32)"}
    losses = {name: float(name != first) for name in names}
    made("excess", {(name, "causal"): (lost,) * 3 for name, lost in losses.items()})
    page = opened("lab", PLAIN | {"models": "rope,xpos_half"})
    at = results("quick").query("measure == 'resolution' and length == 1024")
    means = at.groupby("encoding")["value"].mean()
    highest = max(names, key=means.__getitem__)
    (sentence,) = [each for each in noticed(page) if "esolution" in each.split(",")[0]]
    orders = [", ".join(sorted(names.values(), reverse=one == "xpos_half")) for one in names]
    by_loss, by_resolution = (orders[one == "xpos_half"] for one in (first, highest))
    if first == highest:
        assert sentence == EN("lab.notice.same_order", resolution=by_loss, longest="1,024")
    else:
        values = {"losses": by_loss, "resolution": by_resolution, "longest": "1,024"}
        assert sentence == EN("lab.notice.other_order", **values)


@pytest.mark.parametrize("models", ["nope", "rope", "xpos_half,xpos_512", "rope,alibi,nope"])
def test_without_rope_and_xpos_resolution_sorts_nothing(models):
    said = noticed(opened("lab", PLAIN | {"models": models}))
    assert [sentence for sentence in said if "losses" in sentence] == []


def test_one_model_alone_is_compared_with_none():
    said = noticed(opened("lab", PLAIN | {"models": "nope"}))
    assert [sentence for sentence in said if "seeds of RoPE" in sentence] == []
    assert [sentence for sentence in said if sentence.startswith("In blocks")] == []


def test_nothing_chosen_leaves_the_paper():
    page = opened("lab", {"models": ""})
    assert [info.value for info in page.info] == [EN("lab.none")]
    assert len(page.get("plotly_chart")) == 1
    headers = [header.value for header in page.header]
    assert headers == [EN(key) for key in ("training.title", "lab.paper", "ui.formula")]


@pytest.mark.parametrize(
    ("key", "value", "address"),
    [
        ("lab_size", "quick", {"lab_size": "quick"}),
        ("blocks", True, {"blocks": "yes"}),
        ("reach", 4, {"reach": "4"}),
        ("models", ["rope", "alibi"], {"models": "rope,alibi"}),
    ],
)
def test_a_control_is_kept_in_the_address(key, value, address):
    page = opened("lab")
    again(control(page, key).set_value(value))
    assert apptest.address(page).items() >= address.items()


def test_tables_behind_pictures_are_what_is_drawn():
    table = study.by_place(study.Lab("quick", ("rope",)), "causal", "windows:64")
    assert [*table.columns] == [
        *("encoding", "mask", "length", "place", "value", "error", "least", "most")
    ]
    assert isinstance(table, pd.DataFrame)
