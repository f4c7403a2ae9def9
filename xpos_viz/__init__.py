r"""See how a position encoding changes attention: RoPE, XPos and their difference.

Everything here is a projection of one formula,

.. math:: s(m, n) = \operatorname{Re} \sum_i q_i(m)\, \overline{k_i(n)}\, e^{\lambda_i (m - n)}

with one complex rate λ_i per pair of features: λ = 0 without positions, Re λ = 0 for
RoPE, both parts for XPos.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xpos_viz.attention import attention_logits, attention_weights
    from xpos_viz.curves import decay_curve, decay_table
    from xpos_viz.encoding import Encoding, nope, rope, xpos
    from xpos_viz.experiment import Experiment
    from xpos_viz.inputs import Capture
    from xpos_viz.inputs.files import read_capture, save_capture
    from xpos_viz.kernel import apply_encoding, attention_scores, lag_response
    from xpos_viz.results import Result, run

__all__ = [
    "Capture",
    "Encoding",
    "Experiment",
    "Result",
    "apply_encoding",
    "attention_logits",
    "attention_scores",
    "attention_weights",
    "decay_curve",
    "decay_table",
    "lag_response",
    "nope",
    "read_capture",
    "rope",
    "run",
    "save_capture",
    "xpos",
]

_HOMES = {
    "Capture": "inputs",
    "Encoding": "encoding",
    "Experiment": "experiment",
    "Result": "results",
    "apply_encoding": "kernel",
    "attention_logits": "attention",
    "attention_scores": "kernel",
    "attention_weights": "attention",
    "decay_curve": "curves",
    "decay_table": "curves",
    "lag_response": "kernel",
    "nope": "encoding",
    "read_capture": "inputs.files",
    "rope": "encoding",
    "run": "results",
    "save_capture": "inputs.files",
    "xpos": "encoding",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import what is asked for, a word or a room: torch takes seconds, `--help` has none."""
        place = f"{__name__}.{_HOMES.get(name, name)}"
        try:
            room = import_module(place)
        except ModuleNotFoundError as error:
            if error.name != place:
                raise
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
        return getattr(room, name) if name in _HOMES else room
