"""Real sentences: the texts, what is lost and gained, and what no factor knows."""

import numpy as np
import pytest

from tests import reference, tolerances
from tests.lessons.steps import places, see
from xpos_viz.inputs.sample import read_sample, sample_capture, token_labels
from xpos_viz.lessons.sentences import BLUE, HEADS, IN, LANTERN, MARCH, OF, PARTNERS, kept, shown
from xpos_viz.texts import LANGUAGES, texts

STORY, BRIDGE, TRANSLATION, MEANING = ("story", "bridge", "translation", "meaning")


def each(step):
    """What is seen at every place of the control, in order."""
    return [see(step, value) for value in places(step)]


def told(step, name):
    """A number at every place of the control."""
    return [seen.numbers[name] for seen in each(step)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("name", "step", "count"), [("lantern", "story", 180), ("bridge", "bridge", 190)]
)
def test_a_question_quotes_the_text_that_was_read(name, step, count, language):
    said = texts(language)(f"learn.{step}.question").replace("**", "")
    assert str(read_sample(name)["text"])[:count] in said


@pytest.mark.parametrize("language", LANGUAGES)
def test_both_sentences_of_the_translation_are_quoted(language):
    said = texts(language)("learn.translation.question")
    assert all(line in said for line in str(read_sample("translation")["text"]).splitlines())


def test_tokens_are_those_that_are_named():
    story, bridge, both = map(token_labels, ("lantern", "bridge", "translation"))
    assert [story[token] for token in (0, LANTERN, OF, BLUE)] == ["Before", "lantern", "of", "blue"]
    assert [bridge[token] for token in (MARCH, IN)] == ["March", "in"]
    pairs = {english: both[query][0] + both[key] for english, (query, key) in PARTNERS.items()}
    assert pairs == {
        "yesterday": "天yesterday",
        "bought": "买bought",
        "book": "书book",
        "table": "桌table",
    }


def test_what_the_lantern_loses_the_first_token_gains():
    after, first = told(STORY, "after"), told(STORY, "first")
    assert sorted(after, reverse=True) == after
    assert sorted(first) == first
    assert min(told(STORY, "before")) > 0.95
    assert after[-1] < 0.01
    assert first[-1] > 0.99
    for seen in each(STORY):
        near = dict(zip(shown(), seen.shown.series["xpos"], strict=True))
        assert max(near[token] for token in (BLUE - 2, BLUE - 1, BLUE)) < 0.01


def shrinkage(layer, head, query, key, scale_base, name):
    """The share of a score that XPos takes, by the slow oracle."""
    vectors = sample_capture(name).vectors(layer, head)
    q, k, rates = vectors.q[query].tolist(), vectors.k[key].tolist(), (64, 1e5)
    before = reference.score(q, k, query - key, reference.rope(*rates), "half")
    fading = reference.xpos(*rates, scale_base=scale_base)
    return before - reference.score(q, k, query - key, fading, "half"), before


def test_the_score_of_the_first_token_hardly_falls_though_it_is_farther():
    lost, _ = shrinkage(18, 6, BLUE, LANTERN, 64.0, "lantern")
    rest, _ = shrinkage(18, 6, BLUE, 0, 64.0, "lantern")
    assert 0 < rest < lost / 10


def test_heads_at_one_distance_lose_different_shares():
    kept_after = dict(
        zip(HEADS, np.divide(*reversed(list(see(BRIDGE, 32.0).shown.series.values()))), strict=True)
    )
    assert min(kept_after.values()) < 0.15
    assert max(kept_after.values()) > 0.85
    lost = {head: shrinkage(*head, IN, MARCH, 32.0, "bridge") for head in HEADS}
    shares = {head: loss / score for head, (loss, score) in lost.items()}
    assert min(shares, key=shares.__getitem__) in sorted(HEADS, key=kept_after.__getitem__)[-2:]
    assert max(shares, key=shares.__getitem__) in sorted(HEADS, key=kept_after.__getitem__)[:2]


def test_the_size_of_a_weight_does_not_decide():
    before, after = see(BRIDGE, 32.0).shown.series.values()
    keeps_most = int((after / before).argmax())
    assert sorted(before)[-2:].count(before[keeps_most]) == 1


def test_the_model_reads_the_partners_that_are_named():
    for word, seen in zip(PARTNERS, each(TRANSLATION), strict=True):
        query, key = PARTNERS[word]
        own = sample_capture("translation").weights(9)[2, query, key]
        assert seen.numbers["before"] == pytest.approx(float(own))
        assert seen.shown.series["rope"][key] == pytest.approx(float(own))


def test_the_distance_grows_and_the_nearest_keeps_the_smallest_share():
    distances, shares = told(TRANSLATION, "distance"), told(TRANSLATION, "kept")
    assert sorted(distances) == distances
    assert len(set(distances)) == len(distances)
    assert shares[0] == min(shares)
    assert told(TRANSLATION, "before")[2] == max(told(TRANSLATION, "before"))


@pytest.mark.parametrize("distance", [0.0, 16.0, 51.0, 512.0])
def test_no_factor_knows_the_token(distance):
    expected = [z ** (distance / 64.0) for z in reference.zeta(64)]
    for shares in kept(distance):
        assert shares.tolist() == pytest.approx(expected, rel=1e2 * tolerances.EXACT)
    assert max(told(MEANING, "apart")) < 1e2 * tolerances.EXACT


def test_and_yet_the_tokens_lose_different_scores():
    lantern, of = (shrinkage(18, 6, BLUE, key, 64.0, "lantern")[0] for key in (LANTERN, OF))
    assert abs(lantern / of - 1) > 0.1
