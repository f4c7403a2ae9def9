r"""Scaling: one factor on the query and its opposite on the key, so that only the distance counts.

Six tokens, d = 4, and every number to be seen.
"""

from collections.abc import Mapping
from types import MappingProxyType

from torch import Tensor

from xpos_viz.encoding import Encoding, xpos
from xpos_viz.kernel import attention_scores, lag_response
from xpos_viz.lessons.model import Chapter, Control, Heights, Matrix, Seen, Step
from xpos_viz.lessons.toy import DECAY, LIMIT, ROPE, XPOS, K, M, Q, causal
from xpos_viz.wrong import VARIANTS, ScoreFunction

APART = 2.0
"""How many tokens the query of the first step stands after its key."""

_PLACES = tuple(float(n) for n in range(7))

TERMS: Mapping[str, Encoding] = MappingProxyType({"turned": ROPE, "shrunk": DECAY, "both": XPOS})
"""What is done to the pairs: turned, shrunk, or both."""

WAYS: Mapping[str, ScoreFunction] = MappingProxyType(
    {
        "right": attention_scores,
        "same": VARIANTS["same_direction"].scores,
        "query": VARIANTS["query_only"].scores,
    }
)
"""The scale of the key: the opposite of the query's, the same as the query's, or none."""


def kept(n: float) -> Tensor:
    """What each pair of a product keeps, for a key at n and a query some tokens after it."""
    return lag_response(XPOS, n + APART).abs() * lag_response(XPOS, -n).abs()


def _product(n: float) -> Seen:
    """Both factors of each pair, and their product."""
    query, key = lag_response(XPOS, n + APART).abs(), lag_response(XPOS, -n).abs()
    product = kept(n)
    series = {"query": query.numpy(), "key": key.numpy(), "product": product.numpy()}
    numbers = {"n": n, "m": n + APART}
    numbers |= {"down": float(query[0]), "up": float(key[0]), "left": float(product[0])}
    numbers["slow"] = float(product[1])
    return Seen(Heights(("0", "1"), series, limits=(0.0, 3.6)), numbers)


def scores(way: str) -> Tensor:
    """Scores of the six tokens whose pairs are turned, shrunk, or both."""
    return attention_scores(Q, K, TERMS[way])


def _shrink(way: str) -> Seen:
    """All scores of a query with a key before it."""
    seen = scores(way)
    numbers = {"way": way, "own": float(seen[5, 5]), "near": float(seen[5, 4])}
    numbers |= {"far": float(seen[5, 0]), "other": float(seen[1, 0])}
    return Seen(Matrix(causal(seen), LIMIT), numbers)


def scaled(way: str) -> Tensor:
    """Scores of the six tokens whose keys are scaled in one of three ways."""
    return WAYS[way](Q, K, XPOS)


def _same(way: str) -> Seen:
    """All scores, and how much they change if all tokens move by B."""
    seen, at = scaled(way), M + XPOS["scale_base"]
    moved = WAYS[way](Q, K, XPOS, query_positions=at, key_positions=at)
    numbers = {"way": way, "first": float(seen[0, 0]), "last": float(seen[5, 5])}
    numbers |= {"shift": XPOS["scale_base"], "moved": float((moved - seen).tril().abs().max())}
    return Seen(Matrix(causal(seen), LIMIT), numbers)


SCALING = Chapter(
    "scaling",
    (
        Step(
            "product",
            right="c",
            control=Control(_PLACES, 4.0),
            see=_product,
            formula=r"\role{0}{\zeta_i^{m/B}}\cdot\role{1}{\zeta_i^{-n/B}}=\role{2}{\zeta_i^{(m-n)/B}}",
            line=kept,
            parts=(lag_response, xpos),
            families=("xpos",),
        ),
        Step(
            "shrink",
            right="b",
            control=Control(tuple(TERMS), "shrunk"),
            see=_shrink,
            formula=r"s(m,n)=\mathrm{Re}\sum_i q_i\,\overline{k_i}"
            r"\;\zeta_i^{(m-n)/B}\,e^{\mathrm{i}\theta_i(m-n)}",
            line=scores,
            parts=(attention_scores,),
            families=("rope", "decay", "xpos"),
        ),
        Step(
            "same",
            right="a",
            control=Control(tuple(WAYS), "same"),
            see=_same,
            formula=r"\zeta_i^{m/B}\,\zeta_i^{-n/B}=\zeta_i^{(m-n)/B},\qquad\zeta_i^{m/B}\,\zeta_i^{n/B}=\zeta_i^{(m+n)/B}",
            line=scaled,
            parts=(attention_scores, VARIANTS["same_direction"].formula),
            families=("xpos",),
        ),
    ),
)
