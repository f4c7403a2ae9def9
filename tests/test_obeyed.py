"""A page has a control for each setting that changes any of its pictures."""

import pytest

from tests.apptest import MADE, SHORT, opened
from tests.tiny import shrink
from xpos_viz.export.recipe import fingerprint
from xpos_viz.pictures import PICTURES
from xpos_viz.state import OWN, SETTINGS, from_address, recorded
from xpos_viz.state.settings import Ends, Few, Limit, One, Several, Typed, Words
from xpos_viz.texts import texts

pytestmark = pytest.mark.usefixtures("steady", "tiny")

CONTROLS = {"start": "window", "stop": "window"}
GOALS = {"second_goal": "smallest", "goal_length": "64"}
CHOSEN = {
    *("goal", "second_goal", "goal_limit", "second_limit", "goal_weight", "wanted", "goal_length"),
    *("gamma", "scale_base", "gammas", "budget", "base"),
}
LONG = {"long_length": "64", "window_size": "16", "block_size": "16"}
CASES = (
    ("compare", SHORT | {"difference": "ratio"}, {"difference", "mask", "window", "axis"}),
    ("compare", MADE, {"head_dim", "length", "seed", "keys"}),
    ("decay", {"curves": "xpos,yarn,alibi", "distance": "64"}, {"yarn.factor", "alibi.slope"}),
    ("decay", MADE | {"distance": "20"}, {"head_dim", "curves", "kept_curves", "reading"}),
    ("decay", SHORT | {"assumption": "captured", "distance": "9"}, {"name", "layer", "head"}),
    ("decay", {"assumption": "correlated", "distance": "20"}, {"rho"}),
    ("pairs", SHORT | {"query": "9", "key": "25"}, {"mask", "colours", "query", "pair_encoding"}),
    ("pairs", MADE | {"pair_encoding": "llama3"}, {"llama3.factor", "head_dim", "axis"}),
    ("tokens", SHORT, {"panels", "colours", "query", "layer"}),
    ("layers", SHORT, {"name", "measure", "colours", "gamma", "scale_base"}),
    ("long", LONG, {"long_stage", "normalisation", "resolution_over", "colours"}),
    ("long", MADE | LONG | {"long_inputs": "same", "compare_masks": "yes"}, {"head_dim"}),
    ("long", SHORT | LONG | {"long_inputs": "text"}, {"name", "layer", "head", "window_size"}),
    ("learn", {"teacher": "yes"}, {"lesson", "at"}),
    ("precision", MADE | {"text_length": "64"}, {"head_dim", "formats", "kept", "k_max"}),
    ("neighbours", SHORT | {"left": "yarn"}, {"mask", "window", "colours", "stage", "yarn.factor"}),
    ("choose", GOALS, CHOSEN),
    ("choose", SHORT | GOALS | {"goal": "disturbed"}, {"goal_window", "name", "layer", "head"}),
    ("lab", {"lab_size": "quick"}, {"lab_size", "models", "blocks", "axis", "trained"}),
)
NAMES = [f"{page}-{place}" for place, (page, *_) in enumerate(CASES)]  # sets have no order
OTHERS = {
    "name": ("harbour",),
    "source": ("random", "expectation"),  # a sample has a width of its own
    "layer": ("16",),
    "head": ("5",),
    "length": ("16",),
    "head_dim": ("4",),
    "seed": ("7",),
    "keys": ("independent",),
    "base": ("1000",),
    "gamma": ("0.9",),
    "scale_base": ("3",),
    "start": ("9",),
    "stop": ("20",),
    "stage": ("weights", "masked"),
    "mask": ("none",),
}


@pytest.fixture
def tiny(monkeypatch):
    """Models of one's own are trained in no time."""
    shrink(monkeypatch.setattr)


def others(setting):
    """Values of a setting, as an address has them."""
    if isinstance(setting, Words):
        return setting.legal
    if isinstance(setting, Several):
        return setting.legal[:1]
    if isinstance(setting, Ends):
        return (setting.written((setting.lower, setting.upper)),)
    if isinstance(setting, Typed):
        return ("another text",)
    if isinstance(setting, Few | One):
        return ("xpos:gamma:2",)
    if isinstance(setting, Limit):
        return ("0.5",)
    return (str(setting.lower), str(setting.usual + 1))


def drawn(page, settings):
    """What stands for all that a page draws; what is not legal beside the others is left out."""
    state, _ = from_address(settings)
    return fingerprint([picture.description for picture in PICTURES[page](state, texts("en"))])


def obeyed(page, address):
    """The controls of the settings that change a picture, each on its own."""
    settings = recorded(from_address(address)[0])
    before = drawn(page, settings)
    values = {name: others(setting) for name, setting in SETTINGS.items()}
    values |= OTHERS | {name: (f"{2 * usual:g}",) for name, usual in OWN.items()}
    return {
        CONTROLS.get(name, name)
        for name, given in values.items()
        if any(drawn(page, settings | {name: value}) != before for value in given)
    }


@pytest.mark.parametrize(("page", "address", "some"), CASES, ids=NAMES)
def test_what_changes_a_picture_has_a_control(page, address, some):
    found = obeyed(page, address)
    assert some <= found
    assert found <= opened(page, address).session_state["offered"]


def test_every_page_is_looked_at():
    assert {page for page, *_ in CASES} == PICTURES.keys()
