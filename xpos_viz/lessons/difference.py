r"""Only the difference counts: the score of two tokens that move together stays.

Six tokens, d = 4, and every number to be seen.
"""

from torch import Tensor

from xpos_viz.kernel import attention_scores
from xpos_viz.lessons.model import Chapter, Control, Matrix, Seen, Step
from xpos_viz.lessons.toy import ROPE, K, M, Q

_SHIFTS = (0.0, 1.0, 2.0, 3.0, 10.0, 100.0, 1e6)
_LIMIT = 2.0  # |q||k|


def shifted(shift: float) -> Tensor:
    """Scores of six equal tokens, all of them moved by so many places."""
    return attention_scores(Q, K, ROPE, query_positions=M + shift, key_positions=M + shift)


def _shift(shift: float) -> Seen:
    """All scores, and how far they are from those that were not moved."""
    scores = shifted(shift)
    numbers = {"shift": shift, "score": float(scores[3, 1]), "again": float(scores[5, 3])}
    numbers["moved"] = float((scores - shifted(0.0)).abs().max())
    return Seen(Matrix(scores.numpy(), _LIMIT), numbers)


DIFFERENCE = Chapter(
    "difference",
    (
        Step(
            "shift",
            right="c",
            control=Control(_SHIFTS, 0.0),
            see=_shift,
            formula=r"\mathrm{Re}\,q\,e^{\mathrm{i}(m+a)\theta}\;\overline{k\,e^{\mathrm{i}(n+a)\theta}}=\mathrm{Re}\,q\,\overline{k}\,e^{\mathrm{i}(m-n)\theta}",
            line=shifted,
            parts=(attention_scores,),
            families=("rope",),
        ),
    ),
)
