"""What trained models lose beyond their training length, and what the paper reports."""

from functools import partial

import pandas as pd

from xpos_viz.figures.lab import (
    excess_bars,
    logit_curves,
    mean_curves,
    paper_curves,
    place_curves,
)
from xpos_viz.lessons.longer import LENGTHS, PAPER
from xpos_viz.pictures import reading
from xpos_viz.pictures.picture import Picture
from xpos_viz.pictures.training import learning, own_models
from xpos_viz.state import State
from xpos_viz.studies.lab import MODELS, Lab, by_place, profile, spread
from xpos_viz.studies.reading import Read
from xpos_viz.studies.yours import Learned
from xpos_viz.texts import Text


def pictures(state: State, text: Text) -> tuple[Picture, ...]:
    """What the models lose, if any are chosen, on many texts and on one; and the paper's.

    After them stands how one's own models learned.
    """
    lab = asked(state, own_models(state))
    read = reading.pictures(Read(lab, state.passage), text)
    return (*of_models(lab, state, text), *read, of_paper(text), *learning(lab.yours, text))


def of_models(lab: Lab, state: State, text: Text) -> tuple[Picture, ...]:
    """What the models lose that are chosen, if there are any."""
    logarithmic = state.axis == "log"
    if not lab.models:
        return ()
    return (
        Picture(
            place_curves(lab, text, logarithmic=logarithmic),
            partial(by_place, lab, lab.mask, lab.near),
        ),
        Picture(mean_curves(lab, text), partial(spread, lab, "mean")),
        Picture(excess_bars(lab, text), partial(spread, lab, "excess")),
        Picture(logit_curves(lab, text, logarithmic=logarithmic), partial(profile, lab)),
    )


def of_paper(text: Text) -> Picture:
    """What the paper reports."""
    return Picture(paper_curves(text), paper_table)


def asked(state: State, yours: tuple[Learned, ...]) -> Lab:
    """Which models are looked at, those of one's own among them."""
    models = tuple(name for name in MODELS if name in state.models)
    own = tuple(each.trained.text for each in yours)
    return Lab(state.lab_size, (*models, *own), state.blocks == "yes", state.reach, yours)


def paper_table() -> pd.DataFrame:
    """Return the paper's perplexities: table, method, length (tokens) and perplexity."""
    return pd.DataFrame(
        [
            {"table": number, "method": method, "length": length, "perplexity": value}
            for number, table in ((2, "perplexity"), (5, "parts"))
            for method, values in PAPER[table].items()
            for length, value in zip(LENGTHS[table], values, strict=True)
        ]
    )
