"""Results as pictures: described once, drawn by Plotly on screen and Matplotlib on paper."""

from typing import TYPE_CHECKING

from xpos_viz import comparison
from xpos_viz.figures.compare import score_maps
from xpos_viz.figures.description import Description
from xpos_viz.results import Result
from xpos_viz.texts import texts

if TYPE_CHECKING:
    import plotly.graph_objects as go


def show(what: Result | Description, language: str = "en") -> "go.Figure":
    """Draw a result, or a description of any picture, for a notebook.

    Parameters
    ----------
    what
        From :func:`xpos_viz.run`, or the description of a picture.
    language
        A key of :data:`xpos_viz.texts.LANGUAGES`, for a result.

    Returns
    -------
    plotly.graph_objects.Figure
        The maps of the result side by side and how they differ; a notebook draws it.

    Examples
    --------
    >>> from xpos_viz import Experiment, rope, run, xpos
    >>> from xpos_viz.inputs import Expectation
    >>> len(show(run(Experiment((rope(64), xpos(64)), Expectation(8)))).data)
    3
    """
    from xpos_viz.figures import plotly_pen  # noqa: PLC0415 - heavy, and only where it draws

    if isinstance(what, Result):
        what = score_maps(comparison.compare(what), texts(language))
    return plotly_pen.draw(what)
