"""How models of one's own learn, and what they are called."""

from collections.abc import Sequence

import numpy as np

from xpos_viz.figures.description import Curve, Curves
from xpos_viz.figures.lines import lines
from xpos_viz.figures.words import curve_ends, short_labels
from xpos_viz.lab.model import contenders, encoding_of
from xpos_viz.studies.yours import EVERY, SETTING, Trained, course
from xpos_viz.texts import Text

_GUESSED = 8.0  # bits per byte of one that knows nothing


def model_words(trained: Trained, text: Text) -> str:
    """Write a model of one's own, by what is not usual and what others differ in.

    Such as XPos (B 64) · seed 3.
    """
    own = trained.encoding
    others = (encoding_of(SETTING, own.name), *contenders(SETTING).values())
    encoding, *_ = short_labels([own, *others], text)
    return text("training.model", encoding=encoding, seed=trained.seed)


def your_words(trained: Trained, text: Text) -> str:
    """Write such a model among others that come along."""
    return text("training.yours", model=model_words(trained, text))


def learning_curves(
    models: Sequence[tuple[Trained, Sequence[float]]], text: Text, name: str = "learning"
) -> Curves:
    """Describe how the losses of models fall while they are trained.

    Parameters
    ----------
    models
        Each with its bits per byte of each step so far.
    text
        Sentences of one language.
    name
        Of the picture.
    """
    names = [model_words(trained, text) for trained, _ in models]
    drawn = [course(losses).to_numpy(np.float64).T for _, losses in models]
    ends = curve_ends([(named, y) for named, (_, y) in zip(names, drawn, strict=True)], text)
    strokes = lines(trained.encoding for trained, _ in models)
    return Curves(
        name=name,
        alt=text("training.alt", ends=ends),
        title=(text("training.learning"), text("training.smooth", steps=EVERY)),
        x=text("training.step"),
        y=text("training.loss"),
        logarithmic=False,
        curves=tuple(
            Curve(named, x, y, line=colour, dash=dash)
            for named, (x, y), (colour, dash) in zip(names, drawn, strokes, strict=True)
        ),
        notes=(text("training.guessed"),),
        x_limits=(0.0, SETTING.steps),
        y_limits=(0.0, _GUESSED),
    )
