"""The gallery: each mistake with its sentence, its scores, and the invariant that it breaks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from jaxtyping import Float
from torch import Tensor

from xpos_viz.encoding import Encoding
from xpos_viz.entry import Layout, Positions, token_positions
from xpos_viz.kernel import attention_scores
from xpos_viz.wrong import formulas
from xpos_viz.wrong.checks import Scores, largest_causal
from xpos_viz.wrong.formulas import Call


@dataclass(frozen=True)
class Variant:
    """A row of the gallery: a mistake, the invariant that it breaks, and its scores.

    Parameters
    ----------
    name
        A key of :data:`VARIANTS`.
    breaks
        A key of :data:`CHECKS`.
    mistake
        One sentence: what is wrong.
    formula
        The wrong scores of a call of :func:`xpos_viz.attention_scores`.

    Examples
    --------
    >>> import torch
    >>> from xpos_viz import xpos
    >>> from xpos_viz.wrong import CHECKS, VARIANTS
    >>> variant = VARIANTS["same_direction"]
    >>> variant.mistake
    'Queries and keys are both multiplied by ζ^(position/B), so the factors do not cancel.'
    >>> variant.breaks, CHECKS[variant.breaks](variant.scores, xpos(8)) > 1
    ('shift', True)
    >>> variant.error(torch.ones(3, 8), torch.ones(3, 8), xpos(8, scale_base=2.0))
    5.2296
    """

    name: str
    breaks: str
    mistake: str
    formula: Callable[[Call], Tensor] = field(repr=False)

    def scores(
        self,
        q: Float[Tensor, "*batch query_tokens head_dim"],
        k: Float[Tensor, "*batch key_tokens head_dim"],
        encoding: Encoding,
        *,
        query_positions: Positions | None = None,
        key_positions: Positions | None = None,
        layout: Layout = "interleaved",
    ) -> Scores:
        """Return the wrong scores (…, L_q, L_k), called as :func:`xpos_viz.attention_scores` is.

        Raises
        ------
        ValueError
            For an encoding other than XPos, the same for all heads, or what does not fit.

        Notes
        -----
        Queries and keys have the same heads. The factor form is used where the mistake is in
        it, and then overflows where that does (:mod:`xpos_viz.precision`).
        """
        _check_xpos(encoding)
        m, n = token_positions(q.shape[-2], k.shape[-2], query_positions, key_positions)
        return self.formula(Call(q, k, encoding, m, n, layout))

    def error(
        self,
        q: Float[Tensor, "*batch query_tokens head_dim"],
        k: Float[Tensor, "*batch key_tokens head_dim"],
        encoding: Encoding,
        *,
        query_positions: Positions | None = None,
        key_positions: Positions | None = None,
        layout: Layout = "interleaved",
    ) -> float:
        """Return the size of the largest error of any causal score, in units of a score.

        Parameters
        ----------
        q, k, encoding, query_positions, key_positions, layout
            As in :meth:`scores`.

        Raises
        ------
        ValueError
            As :meth:`scores`.
        """
        m, n = token_positions(q.shape[-2], k.shape[-2], query_positions, key_positions)
        wrong, right = (
            function(q, k, encoding, query_positions=m, key_positions=n, layout=layout)
            for function in (self.scores, attention_scores)
        )
        return largest_causal(wrong - right, m, n)


def _check_xpos(encoding: Encoding) -> None:
    """Raise ValueError unless the encoding is XPos, of which the mistakes are, for all heads."""
    if encoding.name != "xpos" or encoding.rates.ndim > 1:
        raise ValueError(
            f"the encoding must be xpos, the same for all heads, got {encoding!r}; "
            f"use xpos({encoding.head_dim})."
        )


VARIANTS: Mapping[str, Variant] = MappingProxyType(
    {
        row.name: row
        for row in (
            Variant(
                "same_direction",
                "shift",
                "Queries and keys are both multiplied by ζ^(position/B), "
                "so the factors do not cancel.",
                formulas.same_direction,
            ),
            Variant(
                "swapped",
                "bound",
                "Queries take the factor of keys and keys that of queries, "
                "so scores grow with distance.",
                formulas.swapped,
            ),
            Variant(
                "query_only",
                "shift",
                "Only queries are scaled, so a score fades with the position of its query, "
                "not with the distance.",
                formulas.query_only,
            ),
            Variant(
                "linear_growth",
                "shift",
                "Queries and keys are multiplied by 1 + position/B, "
                "which grows with the absolute position.",
                formulas.linear_growth,
            ),
            Variant(
                "by_importance",
                "shift",
                "Each position has a weight of its own, B/(B + position), "
                "so that the first ones matter most.",
                formulas.by_importance,
            ),
            Variant(
                "no_scale_base",
                "limit",
                "The exponent is not divided by B, so everything fades within a few tokens.",
                formulas.no_scale_base,
            ),
            Variant(
                "half_scale_base",
                "fade",
                "The weights were trained with twice this B.",
                formulas.half_scale_base,
            ),
            Variant(
                "other_gamma",
                "fade",
                "The weights were trained with a γ that is 0.1 less.",
                formulas.other_gamma,
            ),
            Variant(
                "zeta_off_by_one",
                "fade",
                "Pair i takes the ζ of pair i + 1, as if pairs were counted from one.",
                formulas.zeta_off_by_one,
            ),
            Variant(
                "no_decay",
                "fade",
                "Nothing is scaled, which is RoPE.",
                formulas.no_decay,
            ),
            Variant(
                "centre_off_by_one",
                "same_place",
                "The scales of queries and of keys are centred one token apart.",
                formulas.centre_off_by_one,
            ),
            Variant(
                "late_queries",
                "same_place",
                "Queries are counted one position too far, as with a wrong cache offset.",
                formulas.late_queries,
            ),
            Variant(
                "backwards",
                "limit",
                "The sines have the wrong sign, so every pair turns backwards.",
                formulas.backwards,
            ),
            Variant(
                "half_layout",
                "layouts",
                "Columns i and i + d/2 are paired, but the weights were trained with "
                "2i and 2i + 1 paired.",
                formulas.half_layout,
            ),
            Variant(
                "mixed_layouts",
                "same_place",
                "Cosines and sines are those of one layout, and columns are swapped as in the "
                "other, so nothing is turned.",
                formulas.mixed_layouts,
            ),
            Variant(
                "scales_apart",
                "shift",
                "Columns are turned in one layout and scaled in the other, so both columns of a "
                "pair fade by different factors.",
                formulas.scales_apart,
            ),
        )
    }
)
"""All wrong variants, by name."""
