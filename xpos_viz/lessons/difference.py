r"""Only the difference counts: the score of two tokens that move together stays.

First six tokens, d = 4, and every number to be seen; then a sentence, d = 64.
"""

import torch
from torch import Tensor

from xpos_viz.encoding import rope
from xpos_viz.inputs import Sample
from xpos_viz.inputs.sample import HEAD_DIM, MODEL_BASE
from xpos_viz.kernel import attention_scores
from xpos_viz.lessons.model import Chapter, Control, Matrix, Seen, Step
from xpos_viz.lessons.toy import LIMIT, ROPE, K, M, Q

SENTENCE = Sample("pronoun", layer=29, head=3)
"""A sentence as a model reads it: each token has a query and a key of its own."""

MODEL = rope(HEAD_DIM, base=MODEL_BASE)
"""The encoding of that model."""

LAST = torch.tensor([0.0, 0.0, 0.0, 0.0, 0.0, 1.0], dtype=torch.float64)
"""What the last of six tokens moves by, if it moves alone by one place."""

_SHIFTS = (0.0, 1.0, 2.0, 3.0, 10.0, 100.0, 1e6)
_ONE = 7  # the token of the sentence whose query and key stand everywhere
_FAR = 1000.0  # places that the sentence is moved by


def shifted(shift: float | Tensor) -> Tensor:
    """Scores of six equal tokens, moved by so many places, all alike or each by its own."""
    return attention_scores(Q, K, ROPE, query_positions=M + shift, key_positions=M + shift)


def changed(shift: float) -> Tensor:
    """What becomes different, but for rounding, when only the last token moves."""
    return shifted(shift * LAST).round(decimals=9) - shifted(0.0).round(decimals=9)


def read(whose: str, shift: float = 0.0) -> Tensor:
    """Scores of a sentence, with the contents of each token or with those of one everywhere."""
    vectors = SENTENCE.load(HEAD_DIM)
    m = torch.arange(len(vectors.q), dtype=torch.float64)
    q, k = (x if whose == "own" else x[[_ONE] * len(m)] for x in (vectors.q, vectors.k))
    places = {"query_positions": m + shift, "key_positions": m + shift}
    return attention_scores(q, k, MODEL, layout=vectors.layout, **places)


def diagonal(whose: str) -> Tensor:
    """Scores of each token with the one three places before it."""
    return read(whose).diagonal(-3)


def _shift(shift: float) -> Seen:
    """All scores, and how far they are from those that were not moved."""
    scores = shifted(shift)
    numbers = {"shift": shift, "query": 3 + shift, "key": 1 + shift, "score": float(scores[3, 1])}
    numbers |= {"later": 5 + shift, "earlier": 3 + shift, "again": float(scores[5, 3])}
    numbers["moved"] = float((scores - shifted(0.0)).abs().max())
    return Seen(_six(scores, M + shift), numbers)


def _alone(shift: float) -> Seen:
    """What becomes different in each score."""
    change = changed(shift)
    numbers = {"shift": shift, "place": 5 + shift, "lag": 2 + shift}
    numbers |= {"before": float(shifted(0.0)[5, 3]), "after": float(shifted(shift * LAST)[5, 3])}
    numbers["changed"] = float(change.count_nonzero())
    numbers["rest"] = float(change[:5, :5].abs().max())
    return Seen(_six(change, M + shift * LAST), numbers)


def _six(values: Tensor, places: Tensor) -> Matrix:
    """Numbers of six tokens, named by where they stand."""
    names = tuple(f"{place:,.0f}" for place in places.tolist())
    return Matrix(values.numpy(), LIMIT, rows=names, columns=names)


def _content(whose: str) -> Seen:
    """Scores of a sentence, and how alike those of one lag are."""
    scores, labels = read(whose), SENTENCE.capture.labels
    apart = diagonal(whose)
    numbers = {"shift": _FAR, "tokens": float(len(labels)), "least": float(apart.min())}
    numbers |= {"most": float(apart.max()), "spread": float(apart.max() - apart.min())}
    numbers["moved"] = float((read(whose, _FAR) - scores).abs().max())
    names = labels if whose == "own" else (labels[_ONE],) * len(labels)
    limit = float(read("own").abs().max())
    return Seen(Matrix(scores.numpy(), limit, rows=names, columns=names), numbers)


DIFFERENCE = Chapter(
    "difference",
    (
        Step(
            "shift",
            right="c",
            control=Control(_SHIFTS, 3.0),
            see=_shift,
            formula=r"\mathrm{Re}\,q\,e^{\mathrm{i}(m+a)\theta}\;\overline{k\,e^{\mathrm{i}(n+a)\theta}}=\mathrm{Re}\,q\,\overline{k}\,e^{\mathrm{i}(m-n)\theta}",
            line=shifted,
            parts=(attention_scores,),
            families=("rope",),
        ),
        Step(
            "alone",
            right="c",
            control=Control(_SHIFTS[:-1], 1.0),
            see=_alone,
            formula=r"\mathrm{Re}\,q\,\overline{k}\,e^{\mathrm{i}(m+a-n)\theta}-\mathrm{Re}\,q\,\overline{k}\,e^{\mathrm{i}(m-n)\theta}",
            line=changed,
            parts=(shifted, attention_scores),
            families=("rope",),
        ),
        Step(
            "content",
            right="b",
            control=Control(("own", "same"), "own"),
            see=_content,
            formula=r"s(m,n)=\mathrm{Re}\sum_i\,q_i(m)\;\overline{k_i(n)}\;e^{\mathrm{i}(m-n)\theta_i}",
            line=diagonal,
            parts=(read, attention_scores),
            families=("rope",),
        ),
    ),
)
