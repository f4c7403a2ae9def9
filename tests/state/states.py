"""States as a session may have them: how they open, and any of them."""

from contextlib import suppress

from hypothesis import strategies as st

from tests import cases
from tests.test_capture import random
from xpos_viz import Capture, Experiment, rope, xpos
from xpos_viz.encoding import PARAMETERS
from xpos_viz.experiment import STAGES, View
from xpos_viz.inputs import Captured, Expectation, Random, Sample
from xpos_viz.inputs.captured import keep
from xpos_viz.inputs.sample import SAMPLES, layers_of
from xpos_viz.inputs.synthetic import MAX_SEED
from xpos_viz.state import OWN, SETTINGS, State, opening
from xpos_viz.state.changes import with_own
from xpos_viz.state.model import MAX_HEAD_DIM, MAX_LENGTH
from xpos_viz.state.settings import Ends, Few, Limit, One, Several, Typed, Whole
from xpos_viz.texts import LANGUAGES

OPENINGS = [("sample", name) for name in SAMPLES] + [("expectation", ""), ("random", "")]
START = State(opening())
KEPT = (
    *("nope", "rope", "xpos", "rope:base:500", "xpos:gamma:0.8:scale_base:64"),
    *("xpos:scale_base:1e-05", "yarn:factor:8:low_turns:2", "alibi:slope:0.5"),
)
samples = st.sampled_from(SAMPLES).flatmap(
    lambda name: st.builds(
        Sample, st.just(name), st.sampled_from(layers_of(name)), st.integers(0, 8)
    )
)
CAPTURES = [
    Capture(*random(), layers=(3, 9), encodings=(rope(8, base=500.0), None)),
    Capture(*random(head_dim=16), tokens=tuple("abcde"), encodings=(rope(4).within(16),)),
    Capture(*random(heads=2, queries=40, keys=40)),
]
captured = st.sampled_from(CAPTURES).flatmap(
    lambda capture: st.builds(
        Captured,
        st.just(keep(capture)),
        st.sampled_from(capture.layers),
        st.integers(0, capture.heads - 1),
    )
)
lengths = st.integers(1, MAX_LENGTH)
made = st.one_of(
    st.builds(Expectation, lengths),
    st.builds(Random, lengths, st.integers(0, MAX_SEED), st.sampled_from(["same", "independent"])),
)


def normal_texts(setting):
    """Those encodings that a setting takes, as it writes them."""
    found = []
    for text in KEPT:
        with suppress(ValueError):
            found.append(setting.normal(text))
    return found


def legal_values(setting):
    """What a setting may be."""
    if isinstance(setting, Whole):
        return st.integers(setting.lower, setting.upper)
    if isinstance(setting, One):
        return st.sampled_from(normal_texts(setting))
    if isinstance(setting, Few):
        texts = st.sampled_from(normal_texts(setting))
        return st.lists(texts, unique=True, max_size=setting.most).map(tuple)
    if isinstance(setting, Typed):
        letters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
        return st.text(letters, max_size=setting.most // 4)
    if isinstance(setting, Ends):
        numbers = st.floats(setting.lower, setting.upper)
        return st.lists(numbers, min_size=2, max_size=2, unique=True).map(sorted).map(tuple)
    if isinstance(setting, Limit):
        return st.none() | st.floats(setting.lower, setting.upper)
    words = st.sampled_from(setting.legal)
    return st.lists(words, unique=True).map(tuple) if isinstance(setting, Several) else words


@st.composite
def states(draw):
    """Any state that the page may be in."""
    inputs = draw(samples | captured | made)
    width = inputs.head_dim or draw(st.sampled_from([2, 64, 96, MAX_HEAD_DIM]))
    base = draw(cases.positive(1.0, 1e8))
    encodings = (
        rope(width, base=base),
        xpos(
            width,
            base=draw(st.just(base) | cases.positive(1.0, 1e8)),
            gamma=draw(cases.positive(1e-6, 1e3)),
            scale_base=draw(cases.positive(1e-3, 1e9)),
        ),
    )
    start = draw(st.integers(0, inputs.tokens - 1))
    stop = draw(st.none() | st.integers(start + 1, inputs.tokens))
    view = View(
        draw(st.sampled_from(STAGES)), draw(st.sampled_from(["causal", "none"])), start, stop
    )
    differ = encodings[0]["base"] != encodings[1]["base"]
    chosen = {name: draw(legal_values(setting)) for name, setting in SETTINGS.items()}
    state = State(
        Experiment(encodings, inputs, view),
        draw(st.sampled_from([None, *LANGUAGES])),
        **{**chosen, **({"apart": "yes"} if differ else {})},
    )
    own = draw(st.sampled_from([None, *OWN]))
    steps = PARAMETERS[own.partition(".")[2]].steps if own else (None,)
    value = draw(st.sampled_from(steps))
    try:
        return with_own(state, {own: value}) if own else state
    except ValueError:  # such as low_turns ≥ high_turns
        return state
