r"""What is often got wrong: each mistake beside the right version, before an invariant.

The wrong scores and the invariants are those of :mod:`xpos_viz.wrong`.
"""

import torch
from torch import Tensor

from xpos_viz.attention import attention_logits, attention_weights
from xpos_viz.encoding import Encoding, rope, xpos
from xpos_viz.inputs.sample import HEAD_DIM, MODEL_BASE, layer_vectors, layers_of, read_sample
from xpos_viz.kernel import attention_scores, lag_response
from xpos_viz.lessons.model import Chapter, Control, Heights, Lines, Matrix, Seen, Step
from xpos_viz.lessons.toy import XPOS, K, M, Q
from xpos_viz.wrong import CHECKS, VARIANTS, ScoreFunction

_BESIDE = Control(("wrong", "right"), "wrong")
PLACES = torch.arange(25).double()
"""Where a token may stand."""

QS, KS = Q[:1].expand(len(PLACES), -1), K[:1].expand(len(PLACES), -1)
"""The same query and key at each of them."""

LAG, LATER = 2.0, 6.0
"""How far a query stands after its key, and how far the later of two keys is moved."""

TEXT, LAYER, LAST = "tidebook", 3, 4
"""A text and a layer of which the model's own weights of so many last queries are known."""

CLAIMED = {
    "wrong": xpos(HEAD_DIM, base=MODEL_BASE),
    "right": rope(HEAD_DIM, base=MODEL_BASE),
}
"""What somebody may claim of that model, and what its configuration says."""

_NEAR = 13  # distances
_PASSED = 1e-6  # the largest departure of a check that is passed


def version(mistake: str, how: str) -> ScoreFunction:
    """What computes scores: a mistake of the gallery, or the core."""
    return VARIANTS[mistake].scores if how == "wrong" else attention_scores


def weighted(how: str) -> Tensor:
    """Scores of six tokens whose positions may have weights of their own."""
    return version("by_importance", how)(Q, K, XPOS, query_positions=M, key_positions=M)


def _by_importance(how: str) -> Seen:
    """All scores; those next to the main diagonal are named."""
    scores = weighted(how)
    near = scores.diagonal(-1)
    numbers = {"how": how, "least": float(near.min()), "most": float(near.max())}
    numbers["departure"] = CHECKS["shift"](version("by_importance", how), XPOS)
    return Seen(Matrix(scores.numpy(), 2.0), numbers)


def standing(lag: float) -> dict[str, Tensor]:
    """Positions of queries, each so far after a key of its own."""
    return {"query_positions": PLACES + lag, "key_positions": PLACES}


def together(how: str) -> Tensor:
    """Scores of a query and the key two tokens before it, wherever both stand."""
    return version("same_direction", how)(QS, KS, XPOS, **standing(LAG)).diagonal()


def _same_way(how: str) -> Seen:
    """How a score moves with its place, and what it was at the beginning."""
    departure = CHECKS["shift"](version("same_direction", how), XPOS)
    return _kept(how, together(how), departure, 0.7)


def _kept(how: str, scores: Tensor, departure: float, limit: float) -> Seen:
    """A score at each place beside its value at the first one, with the departure of a check."""
    numbers = {"how": how, "first": float(scores[0]), "last": float(scores[-1])}
    numbers |= {"places": float(PLACES[-1]), "departure": departure}
    numbers |= {"least": float(scores.min()), "most": float(scores.max())}
    lines = {"score": scores.numpy(), "kept": scores[:1].expand(len(scores)).numpy()}
    return Seen(Lines(PLACES.numpy(), lines, limits=(0.0, limit)), numbers)


def grown(how: str, at: float) -> Tensor:
    """Scores of a key that stands at a place, by their distance."""
    return version("linear_growth", how)(
        QS[:_NEAR], KS[:1], XPOS, query_positions=at + PLACES[:_NEAR], key_positions=[at]
    )[:, 0]


def both(how: str) -> Tensor:
    """The same for an early and for a later key."""
    return torch.stack([grown(how, at) for at in (0.0, LATER)])


def _growing(how: str) -> Seen:
    """Scores by distance for an early and a later key, which must be one curve."""
    early, later = both(how)
    numbers = {"how": how, "later": LATER, "apart": float((later - early).abs().max())}
    numbers |= {"largest": float(torch.stack([early, later]).abs().max())}
    lines = {"early": early.numpy(), "late": later.numpy()}
    return Seen(Lines(PLACES[:_NEAR].numpy(), lines, limits=(-4.0, 12.0)), numbers)


def reproduced(how: str) -> Tensor:
    """Weights of the last queries of a text, in all heads of a layer, as a claim has them."""
    q, k = layer_vectors(TEXT, LAYER)
    scores = attention_scores(q[:, -LAST:], k, CLAIMED[how], layout="half")
    return attention_weights(attention_logits(scores, CLAIMED[how]))


def off(how: str) -> Tensor:
    """How far they are from the model's own, at most, in each head."""
    return (reproduced(how) - own_weights()).abs().amax((-2, -1)).double()


def own_weights() -> Tensor:
    """The weights that the model itself computed."""
    own = read_sample(TEXT)["weights_last4"][layers_of(TEXT).index(LAYER)]
    return torch.as_tensor(own.copy())


def _claimed(how: str) -> Seen:
    """How far the weights of a claim are from the model's own."""
    departures = off(how)
    numbers = {"how": how, "most": float(departures.max()), "least": float(departures.min())}
    numbers |= {"heads": float(len(departures)), "scale_base": CLAIMED["wrong"]["scale_base"]}
    numbers["base"] = MODEL_BASE
    labels = tuple(map(str, range(len(departures))))
    return Seen(Heights(labels, {"off": departures.numpy()}, (0.0, 0.25)), numbers)


def in_place(how: str) -> Tensor:
    """Scores of a query and a key at the same place, wherever it is."""
    return version("mixed_layouts", how)(QS, KS, XPOS, **standing(0.0)).diagonal()


def _mixed(how: str) -> Seen:
    """How a score at lag 0 moves with its place, though nothing lies between."""
    departure = CHECKS["same_place"](version("mixed_layouts", how), XPOS)
    return _kept(how, in_place(how), departure, 4.0)


def printed(q: Tensor, k: Tensor, encoding: Encoding, **_: object) -> Tensor:
    """Code as it may be printed: a vector has d columns, and there are d/2 factors."""
    factors = lag_response(encoding, range(q.shape[-2])).abs()
    return (q * factors) @ (k / factors).mT


TRIED: dict[str, ScoreFunction] = {
    "printed": printed,
    "patched": VARIANTS["scales_apart"].scores,
    "right": attention_scores,
}
"""The printed code, the same with its factors written twice so that it runs, and the core's."""


def stopped(scores: ScoreFunction) -> str:
    """What some code says where it stops; nothing where it runs."""
    try:
        scores(Q, K, XPOS)
    except RuntimeError as error:
        return str(error)
    return ""


def departures(scores: ScoreFunction) -> Tensor:
    """How far some code departs from each of the invariants; NaN where it stops."""
    if stopped(scores):
        return torch.full((len(CHECKS),), torch.nan, dtype=torch.float64)
    return torch.tensor([check(scores, XPOS) for check in CHECKS.values()]).double()


def tried(how: str) -> str | Tensor:
    """What stops some code, or else its departures."""
    return stopped(TRIED[how]) or departures(TRIED[how])


def _printed(how: str) -> Seen:
    """The departures of one of the three, and how many checks it passes."""
    found = departures(TRIED[how])
    numbers = {"how": how, "outcome": "stops" if stopped(TRIED[how]) else "runs"}
    numbers |= {"checks": float(len(found)), "passed": float((found < _PASSED).sum())}
    labels = tuple(str(place + 1) for place in range(len(found)))
    return Seen(Heights(labels, {"departure": found.numpy()}, (0.0, 1.0)), numbers)


MISTAKES = Chapter(
    "mistakes",
    (
        Step(
            "by_importance",
            right="b",
            control=_BESIDE,
            see=_by_importance,
            formula=(
                r"a_m\,a_n\,s(m-n)\neq a_{m+B}\,a_{n+B}\,s(m-n),"
                r"\qquad\zeta_i^{m/B}\,\zeta_i^{-n/B}=\zeta_i^{(m-n)/B}"
            ),
            line=weighted,
            parts=(version, CHECKS["shift"]),
            families=("xpos",),
        ),
        Step(
            "same_way",
            right="a",
            control=_BESIDE,
            see=_same_way,
            formula=r"\role{0}{\zeta_i^{m/B}\,\zeta_i^{n/B}}=\zeta_i^{(m+n)/B}\;\neq\;\zeta_i^{(m-n)/B}=\role{1}{\zeta_i^{m/B}\,\zeta_i^{-n/B}}",
            line=together,
            parts=(standing, version, CHECKS["shift"]),
            families=("xpos",),
        ),
        Step(
            "growing",
            right="c",
            control=_BESIDE,
            see=_growing,
            formula=(
                r"\role{0}{1+\tfrac{m}{B}}\;(n=0),\qquad"
                r"\role{1}{\left(1+\tfrac{m}{B}\right)\left(1+\tfrac{6}{B}\right)}\;(n=6),"
                r"\qquad\zeta_i^{(m-n)/B}\leq 1"
            ),
            line=both,
            parts=(grown, version, CHECKS["shift"]),
            families=("xpos",),
        ),
        Step(
            "claimed",
            right="b",
            control=_BESIDE,
            see=_claimed,
            formula=(
                r"\role{0}{\max_{m,n}\left|w_{mn}"
                r"-\mathrm{softmax}_n\!\left(s_{mn}/\sqrt d\right)\right|}"
            ),
            line=off,
            parts=(reproduced, own_weights),
        ),
        Step(
            "mixed",
            right="a",
            control=_BESIDE,
            see=_mixed,
            formula=r"\role{0}{\mathrm{Re}\,q'_m\,\overline{k'_m}}=\role{1}{\mathrm{Re}\,q\,\overline{k}}\qquad(\Delta=0)",
            line=in_place,
            parts=(standing, version, CHECKS["same_place"]),
        ),
        Step(
            "printed",
            right="c",
            control=Control(tuple(TRIED), "patched"),
            see=_printed,
            formula=r"\role{0}{|y-y_0|}<10^{-6}",
            line=tried,
            parts=(printed, stopped, departures, *CHECKS.values()),
        ),
    ),
)
