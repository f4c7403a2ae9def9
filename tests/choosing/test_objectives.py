"""Every objective against an independent slow value."""

import math

import pytest

from tests import reference
from tests.tolerances import EXACT
from xpos_viz import rope, xpos
from xpos_viz.choosing.objectives import OBJECTIVES
from xpos_viz.choosing.spec import experiment
from xpos_viz.inputs import Captured, Expectation, Sample
from xpos_viz.inputs.captured import keep
from xpos_viz.inputs.sample import sample_capture

D, GAMMA, B, LENGTH = 16, 0.3, 40.0, 96
RATES = reference.xpos(D, gamma=GAMMA, scale_base=B)
HEAD = Sample("pronoun", 8, 2)


def value(name, case=None, encoding=None, **options):
    judged = encoding or xpos(D, gamma=GAMMA, scale_base=B)
    return OBJECTIVES[name].value(experiment(judged, case or Expectation(LENGTH)), options)


def curve(function, rates, stop):
    return [function(rates, lag) for lag in range(stop)]


def crossing(rates):
    """Where the envelope is half of its start, linear between whole lags."""
    lag = next(lag for lag in range(10**6) if reference.envelope(rates, lag + 1) < len(rates) / 2)
    here, beyond = (reference.envelope(rates, each) for each in (lag, lag + 1))
    return lag + (here - len(rates) / 2) / (here - beyond)


CURVES = {
    ("resolution", ("normalisation", "raw")): reference.resolution(
        curve(reference.decay_curve, RATES, LENGTH + 1), math.exp
    ),
    ("resolution",): reference.resolution(
        [g / math.sqrt(D) for g in curve(reference.decay_curve, RATES, LENGTH + 1)], math.exp
    ),
    ("envelope_left",): reference.envelope(RATES, LENGTH) / (D / 2),
    ("envelope_left", ("lag", 7)): reference.envelope(RATES, 7) / (D / 2),
    ("half_life",): crossing(RATES),
    ("pair_half_life", ("pair", 2)): -B * math.log(2) / math.log(reference.zeta(D, GAMMA)[2]),
    ("smallest",): min(curve(reference.decay_curve, RATES, LENGTH)) / (D / 2),
    ("headroom",): math.floor(
        B * math.log(65520) / math.log((1 + GAMMA) / GAMMA) + 1
    ) / LENGTH,
}  # fmt: skip


@pytest.mark.parametrize("key", CURVES, ids=str)
def test_what_needs_a_length(key):
    name, *options = key
    assert value(name, **dict(options)) == pytest.approx(CURVES[key], rel=1e3 * EXACT)


def test_the_first_negative_lag_is_counted_to_the_length():
    rates = reference.rope(D)
    slow = next(lag for lag in range(10**6) if reference.decay_curve(rates, lag) < 0)
    assert value("first_negative", Expectation(slow + 1), rope(D)) == slow
    assert value("first_negative", Expectation(slow), rope(D)) == slow  # which is the length
    assert value("first_negative", Expectation(3), rope(D)) == 3


def test_without_decay_nothing_halves():
    assert value("half_life", encoding=rope(D)) == math.inf
    assert value("pair_half_life", encoding=rope(D)) == math.inf
    assert value("envelope_left", encoding=rope(D)) == 1.0


def slow_weights(rates, window=10**9):
    """Weights of the head, by loops, over keys with lags < window."""
    capture = sample_capture("pronoun")
    q = capture.q[1, 2].double().tolist()
    k = capture.k[1, 0].double().tolist()
    rows = []
    for m, query in enumerate(q):
        scores = [reference.score(query, key, m - n, rates, "half") / 8 for n, key in enumerate(k)]
        rows.append(reference.softmax(scores, [0 <= m - n < window for n in range(len(k))]))
    return rows


JUDGED = xpos(64, base=1e5, gamma=0.3, scale_base=16.0)
OWN_RATES = reference.rope(64, 1e5)
JUDGED_RATES = reference.xpos(64, 1e5, 0.3, 16.0)


def mean(numbers):
    numbers = list(numbers)
    return math.fsum(numbers) / len(numbers)


def moved(window):
    own, other = (slow_weights(rates, window) for rates in (OWN_RATES, JUDGED_RATES))
    return mean(
        math.fsum(abs(b - a) for a, b in zip(*rows, strict=True)) / 2
        for rows in list(zip(own, other, strict=True))[1:]  # the first query has no choice
    )


def slow_beyond(window):
    rows = slow_weights(JUDGED_RATES)
    return mean(math.fsum(row[: m - window + 1]) for m, row in enumerate(rows) if m >= window)


TEXTS = {
    ("disturbed",): lambda: moved(10**9),
    ("disturbed", ("window", 5)): lambda: moved(5),
    ("beyond", ("window", 5)): lambda: slow_beyond(5),
    ("entropy",): lambda: mean(map(reference.entropy, slow_weights(JUDGED_RATES)[1:])),
    ("distance",): lambda: mean(
        math.fsum(w * (m - n) for n, w in enumerate(row))
        for m, row in enumerate(slow_weights(JUDGED_RATES)) if m
    ),
}  # fmt: skip


@pytest.mark.parametrize("key", TEXTS, ids=str)
def test_what_needs_a_text(key):
    name, *options = key
    assert value(name, HEAD, JUDGED, **dict(options)) == pytest.approx(TEXTS[key](), rel=1e-9)


def test_a_capture_is_read_as_a_sample_is():
    brought = Captured(keep(sample_capture("pronoun")), 8, 2)
    for name in ("disturbed", "entropy"):
        assert value(name, brought, JUDGED) == value(name, HEAD, JUDGED)


def test_strips_change_nothing(monkeypatch):
    whole = {name: value(name, HEAD, JUDGED) for (name, *_) in TEXTS if name != "beyond"}
    monkeypatch.setattr("xpos_viz.choosing.reading._CELLS", 3 * 28)
    for name, found in whole.items():
        assert value(name, HEAD, JUDGED) == pytest.approx(found, rel=EXACT)


def test_the_own_encoding_disturbs_nothing():
    assert value("disturbed", HEAD, rope(64, base=1e5)) == 0.0


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [("beyond", {"window": 28}, ("no query of 28 tokens has a choice of such keys; "
      "use a longer text, or another window.")),
     ("disturbed", {"window": 1}, ("no query of 28 tokens has a choice of such keys; "
      "use a longer text, or another window."))],
)  # fmt: skip
def test_what_no_query_can_say_is_refused(name, options, said):
    with pytest.raises(ValueError) as refused:
        value(name, HEAD, JUDGED, **options)
    assert str(refused.value) == said


def test_made_inputs_are_no_text_and_heads_are_read_one_by_one():
    tried = experiment(xpos(D), Expectation(9))
    with pytest.raises(ValueError) as refused:
        OBJECTIVES["entropy"].value(tried, {})
    assert str(refused.value) == (
        "this is read of a captured text, got Expectation(length=9); use Sample()."
    )
    with pytest.raises(ValueError) as refused:
        value("entropy", HEAD, xpos(64, gamma=(0.2, 0.4)))
    assert str(refused.value) == (
        "one head is read, got values for 2 in xpos(64, base=10000.0, gamma=(0.2, 0.4), "
        "scale_base=512.0); use one number for each parameter."
    )


def test_a_pair_that_is_not_there():
    with pytest.raises(ValueError) as refused:
        value("pair_half_life", pair=8)
    assert str(refused.value) == (
        "pair must be an integer ≥ 0, got 8; use one below 8, the number of pairs."
    )


def test_rows_are_told():
    for name, row in OBJECTIVES.items():
        assert row.name == name
        assert row.words.endswith("."), name
        assert row.formula
        assert row.source
        assert row.needs in ("length", "text")
        assert row.better in ("smaller", "larger")
