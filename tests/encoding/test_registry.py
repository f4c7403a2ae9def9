"""The registry: what stands in a row, and that controls can be built from it."""

import pytest

from xpos_viz import Encoding
from xpos_viz.encoding import PARAMETERS, REGISTRY

FAMILIES = [
    "nope", "rope", "p_rope", "xpos", "decay", "retnet", "interpolation", "ntk", "dynamic_ntk",
    "longrope", "yarn", "yarn_hf", "llama3", "alibi", "t5", "t5_bidirectional",
]  # fmt: skip


def test_the_registry_holds_them_in_the_order_of_controls():
    assert list(REGISTRY) == FAMILIES


@pytest.mark.parametrize("name", FAMILIES)
def test_controls_can_be_built_from_a_row(name):
    """Symbol, range and default of each parameter; every default is one number, or a table."""
    row = REGISTRY[name]
    assert list(row.parameters) == list(row.defaults)
    for key, parameter in row.parameters.items():
        default = row.defaults[key]
        assert parameter.name == key
        assert parameter.symbol
        assert parameter.lower < parameter.upper
        assert parameter.check(default, 64) == default
        kind = tuple if parameter.each == "bucket" else int if parameter.whole else float
        assert type(default) is type(Encoding(name, (("head_dim", 64),))[key]) is kind


def test_every_parameter_belongs_to_a_family():
    assert {key for row in REGISTRY.values() for key in row.defaults} == set(PARAMETERS)


def test_labels_differ():
    assert len({row.label for row in REGISTRY.values()}) == len(REGISTRY)
