"""How the models of one's own learned."""

from collections.abc import Sequence

from xpos_viz.figures.training import learning_curves
from xpos_viz.pictures.picture import Picture
from xpos_viz.state import State
from xpos_viz.studies.yours import Learned, courses, learned
from xpos_viz.texts import Text


def own_models(state: State) -> tuple[Learned, ...]:
    """Return the models of one's own; those that are not known are trained."""
    return tuple(map(learned, state.own_models))


def learning(yours: Sequence[Learned], text: Text) -> tuple[Picture, ...]:
    """The picture of how models learned, if there are any."""
    if not yours:
        return ()
    models = [(each.trained, each.state.losses) for each in yours]
    return (Picture(learning_curves(models, text), lambda: courses(yours)),)
