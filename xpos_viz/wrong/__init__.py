r"""A gallery of mistakes: XPos as it is often got wrong, each with the size of its error.

Every variant is made of the right pieces with one thing changed, such as another argument
of :func:`xpos_viz.apply_encoding`, and names the invariant in :data:`CHECKS` that it
breaks. The right formula keeps all of them:

>>> from xpos_viz import attention_scores, xpos
>>> max(check(attention_scores, xpos(8)) for check in CHECKS.values()) < 1e-9
True
"""

from xpos_viz.wrong.checks import CHECKS, Check, ScoreFunction
from xpos_viz.wrong.variants import VARIANTS, Variant

__all__ = ["CHECKS", "VARIANTS", "Check", "ScoreFunction", "Variant"]
