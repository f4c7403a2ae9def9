"""The self-check of a result: it holds, and it finds what is wrong."""

import math

import numpy as np
import pytest

from tests import cases, tolerances
from tests.experiments import PAIR, SMALL, forget, of, straight
from xpos_viz import (
    attention_scores,
    nope,
    results,
    rope,
    xpos,
)
from xpos_viz.inputs import SOURCES, Captured, Expectation, Random, Sample
from xpos_viz.inputs.captured import keep
from xpos_viz.inputs.sample import sample_capture
from xpos_viz.results import (
    NEVER,
    SHIFT,
    self_check,
    shift_error,
)


@pytest.fixture
def forgetful():
    """Empty the caches before a test and after it."""
    forget()
    yield
    forget()


def checked(inputs, encodings=PAIR, **view):
    return self_check(of(inputs, encodings, **view))


@pytest.mark.parametrize("source", SOURCES)
def test_the_check_holds(source):
    brought = Captured(keep(sample_capture("pronoun")), 8, 2)
    inputs = {
        "sample": Sample(),
        "capture": brought,
        "expectation": Expectation(100),
        "random": Random(100),
    }[source]
    check = checked(inputs)
    largest = float(np.nanmax(abs(straight(inputs, PAIR[0], "scores", "causal")[0])))
    assert 0 < check.shift <= 1e4 * tolerances.EXACT * largest  # angles grow by SHIFT radians
    assert check.norm <= tolerances.EXACT
    lag = inputs.tokens * math.log(3.5) / NEVER  # what the fastest pair still fades
    assert 0 < check.rope <= 64 * lag * largest


@pytest.mark.parametrize(("start", "stop"), [(0, 40), (7, 33)])
def test_the_numbers_of_the_check(start, stop):
    inputs = Random(40, 1, "independent")
    view = {"start": start, "stop": stop}
    check = checked(inputs, SMALL, **view)
    vectors = inputs.load(8)
    q, k = vectors.q[start:stop], vectors.k[start:stop]
    here, moved = range(start, stop), range(start + SHIFT, stop + SHIFT)
    never = SMALL[1].replace(scale_base=NEVER)
    shift = max(
        float((attention_scores(q, k, e, **cases.at(here)) - by_factors(q, k, e, moved, start))
        .tril().abs().max())
        for e in SMALL
    )  # fmt: skip
    rope_never = [attention_scores(q, k, e, **cases.at(here)) for e in (SMALL[0], never)]
    assert check.shift == pytest.approx(shift, abs=100 * tolerances.EXACT)
    assert check.rope == pytest.approx(
        float((rope_never[1] - rope_never[0]).tril().abs().max()), rel=1e-3
    )


def by_factors(q, k, encoding, positions, origin):
    turned = results.apply_encoding(q, k, encoding, **cases.at(positions), origin=float(origin))
    return turned[0] @ turned[1].mT


def conjugated(real):
    """Turn and scale keys as queries: scores then depend on m + n."""

    def wrong(q, k, encoding, **options):
        swapped = {
            name.replace("key_", "query_") if "key_" in name else name.replace("query_", "key_"): x
            for name, x in options.items()
        }
        return real(q, k, encoding, **options)[0], real(k, q, encoding, **swapped)[0]

    return wrong


def on_queries_only(real):
    def wrong(q, k, encoding, **options):
        return real(q, k, encoding, **options)[0], k

    return wrong


def other_layout(real):
    def wrong(q, k, encoding, **options):
        other = {"half": "interleaved", "interleaved": "half"}[options["layout"]]
        return real(q, k, encoding, **options | {"layout": other})

    return wrong


def own_origin(real):
    """A centre for the keys that differs by one from that of the queries."""

    def wrong(q, k, encoding, **options):
        other = options | {"origin": options.get("origin", 0.0) + 1}
        return real(q, k, encoding, **options)[0], real(q, k, encoding, **other)[1]

    return wrong


def backwards(real):
    """Positions that run the other way: decay becomes growth."""

    def wrong(q, k, encoding, **options):
        turned = {
            name: -value if name.endswith("positions") else value for name, value in options.items()
        }
        return real(q, k, encoding, **turned | {"origin": -options.get("origin", 0.0)})

    return wrong


WRONG = [conjugated, on_queries_only, other_layout, own_origin, backwards]


@pytest.mark.usefixtures("forgetful")
@pytest.mark.parametrize("wrong", WRONG)
def test_the_check_catches_a_wrong_encoding(wrong, monkeypatch):
    right = checked(Sample("harbour", 8, 3)).shift
    shift_error.cache_clear()
    monkeypatch.setattr(results, "apply_encoding", wrong(results.apply_encoding))
    assert checked(Sample("harbour", 8, 3)).shift > 1e6 * right


@pytest.mark.usefixtures("forgetful")
def test_the_check_catches_a_turn_that_is_none(monkeypatch):
    def wrong(*args, **options):
        return [1.01 * x for x in real(*args, **options)]

    real = results.apply_encoding
    monkeypatch.setattr(results, "apply_encoding", wrong)
    assert checked(Random(9), SMALL).norm == pytest.approx(0.01)


def test_what_does_not_apply_is_not_a_number():
    check = checked(Random(9), (xpos(8),))
    assert math.isnan(check.norm)
    assert not math.isnan(check.rope)
    check = checked(Random(9), (rope(8), nope(8)))
    assert math.isnan(check.rope)
    assert check.norm <= tolerances.EXACT


@pytest.mark.parametrize("order", [1, -1], ids=["rope first", "xpos first"])
def test_a_shift_that_leaves_float64_is_not_hidden_by_another(order):
    steep = (rope(8), xpos(8, scale_base=1.0))[::order]
    assert not math.isfinite(checked(Random(900), steep).shift)
