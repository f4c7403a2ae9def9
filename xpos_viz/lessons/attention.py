r"""From scores to weights: the division by √d, the mask, the softmax, and what heads make of it."""

from functools import cache

import torch
from torch import Tensor

from xpos_viz.attention import attention_logits, attention_weights
from xpos_viz.encoding import Encoding, nope, rope, xpos
from xpos_viz.inputs.sample import HEAD_DIM, MODEL_BASE, layer_vectors, layers_of
from xpos_viz.kernel import attention_scores
from xpos_viz.lessons.model import Chapter, Control, Heights, Lines, Matrix, Seen, Step
from xpos_viz.lessons.toy import ROPE, K, Q
from xpos_viz.statistics import sink_share, total_variation, window_share

# -- the division by √d

_WIDTHS = (4, 16, 64, 256, 1024)
_DRAWN = torch.randn(9, _WIDTHS[-1], generator=torch.Generator().manual_seed(192)).double()


def products(d: int) -> Tensor:
    """Scores of one query with eight keys, of d standard normal numbers each, without positions."""
    return attention_scores(_DRAWN[:1, :d], _DRAWN[1:, :d], nope(d))


def divided(d: int) -> Tensor:
    """Weights of scores over √d."""
    return attention_weights(attention_logits(products(d), nope(d)))


def _root(d: int) -> Seen:
    """Weights without and with the division."""
    raw = attention_weights(attention_logits(products(d), nope(d), scale=1.0))[0]
    root = divided(d)[0]
    numbers = {"d": d, "spread": float(products(d).std()), "by": d**0.5}
    numbers |= {"raw_most": float(raw.max()), "root_most": float(root.max())}
    labels = tuple(map(str, range(len(raw))))
    series = {"raw": raw.numpy(), "root": root.numpy()}
    return Seen(Heights(labels, series, limits=(0.0, 1.0)), numbers)


# -- the mask

LOGITS = attention_logits(attention_scores(Q, K, ROPE), ROPE)
"""Those of the toy case, −∞ where a key comes later."""

_HIDDEN = (0.0, -1.0, -2.0, -5.0, -10.0, -torch.inf)


def masked(hidden: float) -> Tensor:
    """Weights of the toy case, where cells that are not seen have this logit."""
    return attention_weights(LOGITS.nan_to_num(neginf=hidden))


def _hide(hidden: float) -> Seen:
    """All weights, and how much of them goes to keys that come later."""
    weights = masked(hidden)
    later = weights.triu(1).sum(-1)
    numbers = {"hidden": hidden, "first": float(later[0]), "mean": float(later.mean())}
    return Seen(Matrix(weights.numpy(), 1.0, "sequential"), numbers)


# -- softmax

_LEADS = torch.arange(-8, 8.25, 0.25, dtype=torch.float64)


def shares(lead: float | Tensor) -> Tensor:
    """Weights of two keys, the first of which has a logit that is so much larger."""
    return attention_weights(lead * torch.tensor([1.0, 0.0]).double())


def _lead(lead: float) -> Seen:
    """The weight over the lead, and what one less takes of it."""
    weight, less = (shares(leads[:, None])[:, 0] for leads in (_LEADS, _LEADS - 1))
    before, after = (float(shares(each)[0]) for each in (lead, lead - 1))
    both = float(attention_weights(torch.tensor([lead - 1, -1.0]).double())[0])
    numbers = {"lead": lead, "before": before, "after": after, "loss": before - after}
    numbers["same"] = abs(both - before)
    lines = {"weight": weight.numpy(), "lost": (weight - less).numpy()}
    marks = {"weight": (lead, before), "lost": (lead, before - after)}
    return Seen(Lines(_LEADS.numpy(), lines, marks, limits=(0.0, 1.0)), numbers)


# -- heads

_SAMPLE = "harbour"
_NEAR = 4  # tokens
_SCALE_BASE = 64.0
BEFORE = rope(HEAD_DIM, base=MODEL_BASE)
AFTER = xpos(HEAD_DIM, base=MODEL_BASE, scale_base=_SCALE_BASE)


@cache
def logits_of(layer: int, encoding: Encoding) -> Tensor:
    """Logits of all heads of a layer of the bundled text."""
    q, k = (x.double() for x in layer_vectors(_SAMPLE, layer))
    return attention_logits(attention_scores(q, k, encoding, layout="half"), encoding)


def weights_of(layer: int, encoding: Encoding) -> Tensor:
    """Weights of all heads of a layer of the bundled text."""
    return attention_weights(logits_of(layer, encoding))


def moved(layer: int) -> Tensor:
    """Share of its weights that XPos moves, of each head, as a mean over the queries."""
    return total_variation(weights_of(layer, BEFORE), weights_of(layer, AFTER)).mean(-1)


def changed(layer: int) -> Tensor:
    """How much XPos changes the logits of each head, as a mean over what is seen."""
    before, after = (logits_of(layer, each) for each in (BEFORE, AFTER))
    seen = before.isfinite()
    return (after - before).abs().where(seen, 0.0).sum((-1, -2)) / seen.sum((-1, -2))


def _heads(layer: int) -> Seen:
    """How much logits and weights of each head change, beside the head where most does."""
    change, move = changed(layer), moved(layer)
    head, mover = int(change.argmax()), int(move.argmax())
    weights = weights_of(layer, BEFORE)[head]
    numbers = {"layer": layer, "scale_base": _SCALE_BASE, "near": _NEAR}
    numbers |= {"head": head, "change": float(change[head]), "moved": float(move[head])}
    numbers |= {"near_share": float(window_share(weights, _NEAR).mean())}
    numbers |= {"first_share": float(sink_share(weights).mean())}
    numbers |= {"mover": mover, "most": float(move[mover]), "less": float(change[mover])}
    labels = tuple(map(str, range(len(change))))
    series = {"logits": (change / change.max()).numpy(), "weights": (move / move.max()).numpy()}
    return Seen(Heights(labels, series, limits=(0.0, 1.05)), numbers)


ATTENTION = Chapter(
    "attention",
    (
        Step(
            "root",
            right="c",
            control=Control(_WIDTHS, 64),
            see=_root,
            formula=r"\role{0}{w_n}=\frac{e^{s_n}}{\sum_j e^{s_j}},\qquad"
            r"\role{1}{w_n}=\frac{e^{s_n/\sqrt d}}{\sum_j e^{s_j/\sqrt d}}",
            line=divided,
            parts=(attention_logits, attention_weights),
            families=("nope",),
        ),
        Step(
            "hidden",
            right="b",
            control=Control(_HIDDEN, 0.0),
            see=_hide,
            formula=r"w_{mn}=\frac{e^{\ell_{mn}}}{\sum_j e^{\ell_{mj}}},\qquad"
            r"\ell_{mn}=-\infty\quad(n>m)",
            line=masked,
            parts=(attention_logits, attention_weights),
            families=("rope",),
        ),
        Step(
            "lead",
            right="a",
            control=Control(tuple(float(lead) for lead in range(-6, 7)), 1.0),
            see=_lead,
            formula=r"\role{0}{w(\ell)}=\frac{e^{\ell}}{e^{\ell}+1},\qquad"
            r"\role{1}{w(\ell)-w(\ell-1)}",
            line=shares,
            parts=(attention_weights,),
            families=("rope", "xpos"),
        ),
        Step(
            "heads",
            right="c",
            control=Control(layers_of(_SAMPLE), 16),
            see=_heads,
            formula=r"\role{0}{\mathrm{mean}_{m,n}\,|\ell'_{mn}-\ell_{mn}|},\qquad"
            r"\role{1}{\mathrm{mean}_m\,\tfrac12\textstyle\sum_n|w'_{mn}-w_{mn}|}",
            line=moved,
            parts=(attention_logits, attention_weights, total_variation),
        ),
    ),
)
