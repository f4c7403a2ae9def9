"""What is kept of a run is found again, and only where it is the same."""

from dataclasses import replace

import pytest

from tests.experiments import SMALL, forget, of
from xpos_viz import (
    measurements,
    results,
    rope,
    run,
    xpos,
)
from xpos_viz.experiment import STAGES, View
from xpos_viz.inputs import Expectation, Random
from xpos_viz.measurements import measure
from xpos_viz.results import (
    NEVER,
    self_check,
)


@pytest.fixture
def computed(monkeypatch):
    """The encodings whose scores are computed, in order; all tiles of one are one entry."""
    forget()
    calls = []

    def counted(inputs, encoding, *rest):
        if calls[-1:] != [encoding]:
            calls.append(encoding)
        return score_tiles(inputs, encoding, *rest)

    score_tiles = measurements.score_tiles
    for room in (measurements, results):
        monkeypatch.setattr(room, "score_tiles", counted)
    yield calls
    forget()


def test_rope_is_not_computed_again_when_gamma_moves(computed):
    inputs = Random(9)
    for gamma in (0.4, 0.5, 0.4):
        run(of(inputs, (rope(8), xpos(8, gamma=gamma))))
    assert computed == [rope(8), xpos(8), xpos(8, gamma=0.5)]


ANEW = [
    {"inputs": Random(9, seed=1)},
    {"inputs": Random(9, keys="independent")},
    {"inputs": Expectation(9)},
    {"view": View(start=1)},
    {"view": View(stop=8)},
    {"view": View(mask="none")},
    {"view": View(cells=4)},
]
SEEN_ANEW = [{"view": View(stage=stage)} for stage in STAGES[1:]]


@pytest.mark.parametrize("change", [*ANEW, *SEEN_ANEW], ids=str)
def test_what_a_value_depends_on_makes_it_new(change, computed):
    """Attention is computed again for other inputs, tokens, masks or blocks; not for a stage."""
    first = run(of(Random(9)))
    second = run(replace(first.experiment, **change))
    assert computed == [*SMALL, *SMALL] if change in ANEW else computed == [*SMALL]
    assert first.measurements[0].values.tolist() != second.measurements[0].values.tolist()


def test_checks_of_rope_are_not_computed_again_when_gamma_moves(monkeypatch, computed):
    turned = []

    def counted(q, k, encoding, **options):
        turned.append(encoding)
        return apply_encoding(q, k, encoding, **options)

    apply_encoding = results.apply_encoding
    monkeypatch.setattr(results, "apply_encoding", counted)
    self_check(of(Random(9), (rope(8), xpos(8))))
    assert turned.count(rope(8)) == 2
    del turned[:], computed[:]
    self_check(of(Random(9), (rope(8), xpos(8, gamma=0.5))))
    assert turned == [xpos(8, gamma=0.5)]
    assert computed == [xpos(8, gamma=0.5), xpos(8, gamma=0.5, scale_base=NEVER), rope(8)]


def test_numbers_are_not_computed_again_when_the_stage_changes():
    one, other = (measure(Random(9), SMALL[1], View(stage)) for stage in ("scores", "weights"))
    assert one.reach is other.reach
