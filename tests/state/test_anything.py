"""Whatever is typed into an address does no harm."""

import re
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xpos_viz.inputs import Sample
from xpos_viz.state import from_address, to_address
from xpos_viz.state.model import LOOKS, MAX_HEAD_DIM, MAX_LENGTH
from xpos_viz.texts import LANGUAGES

FREE = (
    *("source", "lang", "axis", "apart", "head_dim", "base", "base.1", "base.2", "gamma"),
    *("scale_base", "stage", "mask", "start", "stop"),
)
PLAIN = re.compile(r"[a-zA-Z0-9_.,+-]{1,40}")


@pytest.mark.parametrize("digits", ["\u0665", "\uff15", "1_0", "+5", " 5 ", "5\n"])
def test_unusual_digits_are_read_as_python_reads_them_or_refused(digits):
    state, refused = from_address({"source": "random", "length": digits, "seed": digits})
    assert len(refused) in (0, 2)
    assert to_address(state) == ({"source": "random"} if refused else _plain(digits))
    assert from_address(to_address(state)) == (state, [])


def _plain(digits):
    return {"source": "random", "length": str(int(digits)), "seed": str(int(digits))}


keys = st.sampled_from(
    [
        *("source", "name", "layer", "head", "length", "seed", "keys", "head_dim", "base"),
        *("base.1", "base.2", "base.3", "gamma", "gamma.1", "gamma.2", "scale_base", "stage"),
        *("mask", "start", "stop", "cells", "encodings", "axis", "lang"),
    ]
) | st.text(max_size=8)
values = st.one_of(
    st.text(max_size=60),
    st.floats().map(repr),
    st.integers().map(str),
    st.integers(0, 3000).map(str),
    st.sampled_from(["random", "expectation", "chinese", "none", "weights", "log", "zh", "1e309"]),
    st.text("0123456789.eE+-_nainf\u0663\uff15 ", max_size=12),
    st.integers(1, 5000).map("9".__mul__),
)


@given(st.dictionaries(keys, values, max_size=8))
def test_no_address_does_harm(address):
    """No exception; everything is taken or refused; nothing larger than its cap."""
    state, refused = from_address(address)
    experiment = state.experiment
    assert len(refused) <= len(address)
    if isinstance(experiment.inputs, Sample):
        assert experiment.encodings[0].head_dim == 64
    else:
        assert 1 <= experiment.inputs.tokens <= MAX_LENGTH
        assert 2 <= experiment.encodings[0].head_dim <= MAX_HEAD_DIM
    assert experiment.view.cells == 256
    assert [encoding.name for encoding in experiment.encodings] == ["rope", "xpos"]
    assert state.language in (None, *LANGUAGES)
    assert state.axis in LOOKS["axis"]
    for refusal in refused:
        assert len(refusal.key) <= 40
        assert len(refusal.value) <= 40
    legal = {*FREE, *(field.name for field in fields(experiment.inputs))}
    illegal = [key for key in address if key not in legal]
    shown = {key if PLAIN.fullmatch(key) else "…" for key in illegal}
    assert shown <= {refusal.key for refusal in refused}
    assert from_address(to_address(state)) == (state, [])
    assert len(str(to_address(state))) < 600
