"""What a parameter may not be is said, with a way out."""

import math

import pytest

from tests.encoding.families import message
from xpos_viz import xpos
from xpos_viz.encoding import (
    alibi,
    alibi_slopes,
    dynamic_ntk,
    interpolation,
    llama3,
    longrope,
    p_rope,
    retnet,
    retnet_decays,
    t5,
    yarn,
    yarn_hf,
)

FACTOR = "use 1 for the range of training, or how many times longer the texts are."
TABLE = "use the learned values of a model, rows for heads."
FEW = tuple(float(n) for n in range(31))


@pytest.mark.parametrize(
    ("constructor", "parameters", "text"),
    [
        (
            xpos,
            {"gamma": (0.2, -1)},
            "gamma must be a finite number > 0, got -1 in (0.2, -1); the usual value is 0.4.",
        ),
        (
            xpos,
            {"gamma": ()},
            "gamma must be one number, or one for each head, got (); the usual value is 0.4.",
        ),
        (
            xpos,
            {"gamma": (0.2, 0.4), "scale_base": (64, 128, 512)},
            (
                "parameters of heads must be for one number of heads, got 2 for gamma and 3 for "
                "scale_base; use one number, or as many as there are heads."
            ),
        ),
        (
            p_rope,
            {"share": 1.5},
            "share must be a finite number ≥ 0 and ≤ 1, got 1.5; 0 is nope() and 1 is rope().",
        ),
        (
            retnet,
            {"decay": 0},
            (
                "decay must be a finite number > 0 and ≤ 1, got 0; "
                "use 1 − 2^(−5−h) for head h: retnet_decays(8)."
            ),
        ),
        (
            retnet,
            {"decay": (0.5, True)},
            (
                "decay must be a finite number > 0 and ≤ 1, got True in (0.5, True); "
                "use 1 − 2^(−5−h) for head h: retnet_decays(8)."
            ),
        ),
        (interpolation, {"factor": 0.5}, f"factor must be a finite number ≥ 1, got 0.5; {FACTOR}"),
        (
            longrope,
            {"factors": (1.0, 2.0)},
            f"factors must be one number, or 4, one for each pair, got (1.0, 2.0); {FACTOR}",
        ),
        (
            yarn,
            {"train_length": 100.5},
            (
                "train_length must be an integer ≥ 2, got 100.5; "
                "use the length of the texts in training, such as 2048 tokens."
            ),
        ),
        (
            yarn,
            {"train_length": (100, 200)},
            (
                "train_length must be one number, got (100, 200); "
                "use the length of the texts in training, such as 2048 tokens."
            ),
        ),
        (
            dynamic_ntk,
            {"current_length": 0},
            (
                "current_length must be an integer ≥ 1, got 0; "
                "use the length of the text, such as 4096 tokens."
            ),
        ),
        (
            yarn_hf,
            {"truncate": 2},
            (
                "truncate must be an integer ≥ 0 and ≤ 1, got 2; "
                "use 1 for a ramp between whole pairs, or 0."
            ),
        ),
        (
            llama3,
            {"low_turns": 4.0},
            "low_turns must be below high_turns, got 4.0 and 4.0; the usual value is 1.",
        ),
        (
            yarn,
            {"low_turns": (1, 9), "high_turns": (8, 8)},
            (
                "low_turns must be below high_turns, got (1.0, 9.0) and (8.0, 8.0); "
                "the usual value is 1."
            ),
        ),
        (
            yarn,
            {"high_turns": -1},
            (
                "high_turns must be a finite number ≥ 0, got -1; "
                "the usual value is 32 in YaRN, 4 in Llama 3."
            ),
        ),
        (
            alibi,
            {"slope": -0.5},
            "slope must be a finite number ≥ 0, got -0.5; use alibi_slopes(8) for 8 heads.",
        ),
        (t5, {"table": 0.5}, f"table must be 32 numbers, or 32 for each head, got 0.5; {TABLE}"),
        (
            t5,
            {"table": FEW},
            f"table must be 32 numbers, or 32 for each head, got {FEW!r:.60}; {TABLE}",
        ),
        (
            t5,
            {"table": [[0.0] * 32, [0.0] * 31]},
            f"table must be 32 numbers, or 32 for each head, got {[[0.0] * 32]!r:.60}; {TABLE}",
        ),
        (
            t5,
            {"table": [math.inf] * 32},
            f"table must be a finite number, got inf in {[math.inf] * 32!r:.60}; {TABLE}",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)[:40]),
)
def test_what_a_parameter_may_not_be(constructor, parameters, text):
    assert message(constructor, 8, **parameters) == text


@pytest.mark.parametrize("function", [alibi_slopes, retnet_decays])
@pytest.mark.parametrize("heads", [0, -1, 1.5, True, "8"])
def test_an_impossible_number_of_heads_is_refused(function, heads):
    assert message(function, heads) == (
        f"heads must be an integer ≥ 1, got {heads!r}; use 8, for instance."
    )
