"""How the models of one's own learned."""

from collections.abc import Sequence

from xpos_viz.figures.training import learning_curves
from xpos_viz.pictures.picture import Picture
from xpos_viz.state import State
from xpos_viz.studies.yours import SETTING, Learned, Trained, courses, learned
from xpos_viz.texts import Text


def own_models(state: State) -> tuple[Learned, ...]:
    """Return the models of one's own; those that are not known are trained."""
    return tuple(map(learned, beside(state)))


def beside(state: State) -> tuple[Trained, ...]:
    """Return which models of one's own stand beside the others: those of the same size."""
    return state.own_models if state.lab_size == SETTING.name else ()


def learning(yours: Sequence[Learned], text: Text) -> tuple[Picture, ...]:
    """The picture of how models learned, if there are any."""
    if not yours:
        return ()
    models = [(each.trained, each.state.losses) for each in yours]
    return (Picture(learning_curves(models, text), lambda: courses(yours)),)
