"""What tests of the pictures of a comparison share."""

import pytest

from xpos_viz import Experiment
from xpos_viz.figures.compare import decay_curves
from xpos_viz.inputs import Expectation
from xpos_viz.results import curves
from xpos_viz.texts import texts

each_language = pytest.mark.parametrize("language", ["en", "zh"])


def decay(*encodings, language="en", **options):
    """The decay curves of some encodings."""
    experiment = Experiment(encodings, Expectation(2049))
    return decay_curves(curves(experiment), experiment, texts(language), **options)
