r"""Real sentences: what XPos does to the weights of a real model, and what it cannot know.

The model learned its queries and keys under RoPE. XPos in its place shows what the decay takes
and gives, not what a model would read that was trained with it.
"""

from functools import cache

import torch
from torch import Tensor

from xpos_viz.attention import attention_weights
from xpos_viz.encoding import Encoding, xpos
from xpos_viz.entry import to_pairs
from xpos_viz.inputs.sample import HEAD_DIM, MODEL_BASE, sample_capture, token_labels
from xpos_viz.kernel import apply_encoding
from xpos_viz.lessons.model import Chapter, Control, Heights, Seen, Step

_BASES = (512.0, 256.0, 128.0, 64.0, 32.0, 16.0)
XPOS = xpos(HEAD_DIM, base=MODEL_BASE, scale_base=64.0)

LANTERN, OF, BLUE = 9, 14, 60
"""Tokens of the story: what is looked for, another one, and the query."""

MARCH, IN = 24, 51
"""Tokens of the question: the answer, and the query that asks for it."""

HEADS = ((17, 3), (17, 4), (17, 5), (22, 2), (22, 4), (22, 7))
"""Layers and heads that read the answer."""

PARTNERS = {"yesterday": (20, 5), "bought": (22, 4), "book": (25, 1), "table": (34, 9)}
"""Tokens of the translation: the end of each Chinese word, and the English one."""

_ENGLISH = 14  # tokens of the English sentence
_STRONGEST, _NEAREST = 5, 3  # tokens of the story that are shown
_EVERY = 4  # pairs


def weights_at(query: int, text: str, layer: int, encoding: Encoding | None = None) -> Tensor:
    """Weights of all heads of a layer, read by one query; None is as the model has them."""
    capture = sample_capture(text)
    chosen = capture.encoding(layer, encoding)
    m, n = capture.query_positions[[query]], capture.key_positions
    q, k = capture.layer_vectors(layer)
    return attention_weights(capture.logits(layer, chosen, q[:, [query]], k, m, n))[:, 0].double()


def at_blue(encoding: Encoding | None = None) -> Tensor:
    """Weights of all tokens of the story, read by the query; None is as the model has them."""
    return weights_at(BLUE, "lantern", 18, encoding)[6]


@cache
def shown() -> list[int]:
    """The tokens with the largest weights under any scale base, and those nearest to the query."""
    each = (XPOS.replace(scale_base=scale_base) for scale_base in _BASES)
    rows = torch.stack([at_blue(), *map(at_blue, each)])
    strongest = rows.amax(0).topk(_STRONGEST).indices.tolist()
    return sorted({*strongest, *range(BLUE + 1 - _NEAREST, BLUE + 1)})


def read(scale_base: float) -> Tensor:
    """Their weights under XPos."""
    return at_blue(XPOS.replace(scale_base=scale_base))[shown()]


def _story(scale_base: float) -> Seen:
    """What each of these tokens has before and after."""
    before, after = at_blue()[shown()], read(scale_base)
    first, lantern = (shown().index(token) for token in (0, LANTERN))
    numbers = {"scale_base": scale_base, "distance": float(BLUE - LANTERN)}
    numbers |= {"before": float(before[lantern]), "after": float(after[lantern])}
    numbers |= {"first_before": float(before[first]), "first": float(after[first])}
    labels = tuple(token_labels("lantern")[token] for token in shown())
    series = {"rope": before.numpy(), "xpos": after.numpy()}
    return Seen(Heights(labels, series, (0.0, 1.0)), numbers)


def at_answer(encoding: Encoding | None = None) -> Tensor:
    """The weight that each of the heads gives to the answer; None is as the model has it."""
    layers = {layer: weights_at(IN, "bridge", layer, encoding) for layer in dict(HEADS)}
    return torch.stack([layers[layer][head, MARCH] for layer, head in HEADS])


def answered(scale_base: float) -> Tensor:
    """The same under XPos."""
    return at_answer(XPOS.replace(scale_base=scale_base))


def _bridge(scale_base: float) -> Seen:
    """The answer's weight in each of the heads, before and after."""
    before, after = at_answer(), answered(scale_base)
    kept = after / before
    least, most = int(kept.argmin()), int(kept.argmax())
    numbers: dict[str, float | str] = {"scale_base": scale_base, "distance": float(IN - MARCH)}
    numbers |= {"least": float(kept[least]), "most": float(kept[most])}
    for name, place in (("worst", least), ("best", most)):
        numbers |= {f"{name}_layer": float(HEADS[place][0]), f"{name}_head": float(HEADS[place][1])}
    labels = tuple(f"{layer}·{head}" for layer, head in HEADS)
    series = {"rope": before.numpy(), "xpos": after.numpy()}
    return Seen(Heights(labels, series, (0.0, 1.0)), numbers)


def at_word(word: str, encoding: Encoding | None = None) -> Tensor:
    """Weights of the English tokens, read by a Chinese word; None is as the model has them."""
    return weights_at(PARTNERS[word][0], "translation", 9, encoding)[2, :_ENGLISH]


def translated(word: str) -> Tensor:
    """The same under XPos."""
    return at_word(word, XPOS)


def _translation(word: str) -> Seen:
    """What a Chinese word reads of the English sentence, before and after."""
    query, key = PARTNERS[word]
    before, after = at_word(word), translated(word)
    numbers = {"word": word, "distance": float(query - key), "scale_base": XPOS["scale_base"]}
    numbers |= {"before": float(before[key]), "after": float(after[key])}
    numbers |= {"kept": float(after[key] / before[key])}
    labels = token_labels("translation")[:_ENGLISH]
    series = {"rope": before.numpy(), "xpos": after.numpy()}
    return Seen(Heights(labels, series, (0.0, 1.0)), numbers)


def sizes(distance: float) -> Tensor:
    """Sizes of what each pair gives to two scores, if both keys stood at that distance."""
    vectors = sample_capture("lantern").vectors(18, 6)
    q, k = vectors.q[[BLUE]], vectors.k[[LANTERN, OF]]
    q, k = apply_encoding(
        q, k, XPOS, query_positions=[distance], key_positions=[0.0, 0.0], layout="half"
    )
    return to_pairs(q, "half", HEAD_DIM).abs() * to_pairs(k, "half", HEAD_DIM).abs()


def kept(distance: float) -> Tensor:
    """The share of each pair that is left at a distance, for both keys."""
    return sizes(distance) / sizes(0.0)


def _meaning(distance: float) -> Seen:
    """What is left of every fourth pair of both keys."""
    shares = kept(distance)
    numbers = {"distance": distance, "fast": float(shares[0, 0]), "slow": float(shares[0, -1])}
    numbers |= {"apart": float((shares[0] - shares[1]).abs().max())}
    labels = tuple(str(pair) for pair in range(0, shares.shape[-1], _EVERY))
    series = {"lantern": shares[0, ::_EVERY].numpy(), "of": shares[1, ::_EVERY].numpy()}
    return Seen(Heights(labels, series, (0.0, 1.0)), numbers)


_WEIGHTS = (
    r"\role{0}{w_n}=\frac{e^{s_n/\sqrt d}}{\sum_j e^{s_j/\sqrt d}}"
    r"\;\to\;\role{1}{w'_n}=\frac{e^{s'_n/\sqrt d}}{\sum_j e^{s'_j/\sqrt d}}"
)

SENTENCES = Chapter(
    "sentences",
    (
        Step(
            "story",
            right="c",
            control=Control(_BASES, 64.0),
            see=_story,
            formula=_WEIGHTS,
            line=read,
            parts=(at_blue, weights_at, attention_weights),
        ),
        Step(
            "bridge",
            right="c",
            control=Control(_BASES, 32.0),
            see=_bridge,
            formula=(
                r"\role{1}{w'_n}=\mathrm{softmax}_n\!\left(s'_n/\sqrt d\right),\quad "
                r"s'_n=\mathrm{Re}\sum_i q_i\overline{k_i}\,e^{\mathrm{i}\theta_i\Delta}"
                r"\,\zeta_i^{\Delta/B},\qquad\role{0}{w_n}:\ \zeta_i=1"
            ),
            line=answered,
            parts=(at_answer, weights_at, attention_weights),
        ),
        Step(
            "translation",
            right="b",
            control=Control(tuple(PARTNERS), "yesterday"),
            see=_translation,
            formula=_WEIGHTS + r",\qquad\Delta=m-n",
            line=translated,
            parts=(at_word, weights_at, attention_weights),
        ),
        Step(
            "meaning",
            right="a",
            control=Control((0.0, 1.0, 4.0, 16.0, 32.0, 51.0, 64.0, 128.0, 256.0, 512.0), 51.0),
            see=_meaning,
            formula=r"\role{0}{|q_i'\,\overline{k_i'}|}=|q_i\,\overline{k_i}|\;\zeta_i^{\Delta/B},\qquad\role{1}{|q_i'\,\overline{l_i'}|}=|q_i\,\overline{l_i}|\;\zeta_i^{\Delta/B}",
            line=kept,
            parts=(sizes, apply_encoding),
            families=("xpos",),
        ),
    ),
)
