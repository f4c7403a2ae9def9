"""Where queries and keys come from: a bundled sample, a capture, their expectation, or chance.

Each source is a frozen description that is loaded on demand; two equal descriptions load
equal vectors. :data:`SOURCES` lists them by name.
"""

from xpos_viz.inputs.capture import Capture
from xpos_viz.inputs.captured import Captured
from xpos_viz.inputs.sample import Sample
from xpos_viz.inputs.synthetic import Expectation, Random
from xpos_viz.inputs.vectors import Vectors

Computed = Sample | Captured
"""What a model computed on a text: a head of a `capture`."""

Inputs = Computed | Expectation | Random

SOURCES: dict[str, type[Inputs]] = {
    "sample": Sample,
    "capture": Captured,
    "expectation": Expectation,
    "random": Random,
}
"""All sources of queries and keys, by name."""

__all__ = [
    "SOURCES",
    "Capture",
    "Captured",
    "Computed",
    "Expectation",
    "Inputs",
    "Random",
    "Sample",
    "Vectors",
]
