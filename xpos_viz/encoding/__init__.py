r"""Position encodings as data: one complex rate per pair of features.

An encoding of the rotary family turns and shrinks pair :math:`i` of a vector by

.. math:: \lambda_i = \mathrm{i}\,\theta_i + \frac{\ln \zeta_i}{B}

for every token of distance. Everything else in this package follows from these
rates (:mod:`xpos_viz.kernel`); ALiBi and T5 have none, and add a bias to the logits. A
family of encodings is a function from parameters to :class:`Terms` under the
:func:`family` decorator, which adds it to :data:`REGISTRY` and turns the function into a
constructor of :class:`Encoding`.

Examples
--------
>>> from xpos_viz.encoding import REGISTRY, retnet, retnet_decays, yarn
>>> ", ".join(REGISTRY)
'nope, rope, p_rope, xpos, decay, retnet, interpolation, ntk, dynamic_ntk, longrope, yarn,
yarn_hf, llama3, alibi, t5, t5_bidirectional'
>>> [(row.symbol, row.lower) for row in REGISTRY["xpos"].parameters.values()]
[('base', 1.0), ('γ', 0.0), ('B', 0.0)]
>>> retnet(64, decay=retnet_decays(8)).rates.shape, round(yarn(64, factor=4.0).temperature, 4)
(torch.Size([8, 32]), 1.2965)
"""

from xpos_viz.encoding.model import (
    REGISTRY,
    Encoding,
    Family,
    Terms,
    column,
    family,
    lookup,
)
from xpos_viz.encoding.parameters import (
    BUCKETS,
    PARAMETERS,
    Parameter,
    PerHead,
    Value,
    check_head_dim,
    check_heads,
)

# families are listed in the order in which they are imported
# isort: off
from xpos_viz.encoding.rotary import nope, p_rope, rope
from xpos_viz.encoding.decaying import decay, retnet, retnet_decays, xpos
from xpos_viz.encoding.stretched import (
    dynamic_ntk,
    interpolation,
    llama3,
    longrope,
    ntk,
    yarn,
    yarn_hf,
)
from xpos_viz.encoding.additive import alibi, alibi_slopes, t5, t5_bidirectional, t5_bucket
# isort: on

__all__ = [
    "BUCKETS",
    "PARAMETERS",
    "REGISTRY",
    "Encoding",
    "Family",
    "Parameter",
    "PerHead",
    "Terms",
    "Value",
    "alibi",
    "alibi_slopes",
    "check_head_dim",
    "check_heads",
    "column",
    "decay",
    "dynamic_ntk",
    "family",
    "interpolation",
    "llama3",
    "longrope",
    "lookup",
    "nope",
    "ntk",
    "p_rope",
    "retnet",
    "retnet_decays",
    "rope",
    "t5",
    "t5_bidirectional",
    "t5_bucket",
    "xpos",
    "yarn",
    "yarn_hf",
]
