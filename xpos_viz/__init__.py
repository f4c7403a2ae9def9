r"""See how a position encoding changes attention: RoPE, XPos and their difference.

Everything here is a projection of one formula,

.. math:: s(m, n) = \operatorname{Re} \sum_i q_i(m)\, \overline{k_i(n)}\, e^{\lambda_i (m - n)}

with one complex rate λ_i per pair of features: λ = 0 without positions, Re λ = 0 for
RoPE, both parts for XPos.
"""

from xpos_viz.attention import attention_logits, attention_weights
from xpos_viz.curves import decay_curve, decay_table
from xpos_viz.encoding import Encoding, nope, rope, xpos
from xpos_viz.experiment import Experiment
from xpos_viz.kernel import apply_encoding, attention_scores, lag_response
from xpos_viz.results import Result, run

__all__ = [
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
    "rope",
    "run",
    "xpos",
]
