"""Numbers, counts and encodings as a reader sees them."""

import numpy as np
import pytest

from tests import cases
from tests.figures.comparing import each_language
from xpos_viz import nope, rope, xpos
from xpos_viz.encoding import longrope, t5
from xpos_viz.figures.words import (
    factors,
    label,
    many,
    number,
    percent,
    portion,
    rounded,
    settings,
    span,
    tokens,
)
from xpos_viz.texts import texts


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (-2.5, "−2.5"),
        (0.4, "0.4"),
        (1 / 3, "0.3333333333333333"),
        (1e5, "100,000"),
        (500_000.25, "500,000.25"),
        (999_999_999.0, "999,999,999"),
        (1e9, "10⁹"),
        (-1e12, "−10¹²"),
        (-0.0, "0"),
        (-1e-300, "−10⁻³⁰⁰"),
        (np.nan, "–"),
        (-np.inf, "−∞"),
        (2.5e12, "2.5\u00a0×\u00a010¹²"),
        (1e-3, "0.001"),
        (1e-6, "10⁻⁶"),
        (np.inf, "∞"),
        (1000, "1,000"),
    ],
)
def test_numbers_for_a_reader(value, words):
    assert number(value) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (40.3257, "40.3"),
        (1234.5, "1,230"),
        (0.012345, "0.0123"),
        (2.0, "2"),
        (1.23456e-5, "1.23\u00a0×\u00a010⁻⁵"),
    ],
)
def test_measured_numbers_have_three_digits(value, words):
    assert rounded(value) == words


@pytest.mark.parametrize(
    ("share", "one", "digits"),
    [
        (0.4857, "48.6\u00a0%", "48.6\u00a0%"),
        (-0.0, "0.0\u00a0%", "0\u00a0%"),
        (-1e-300, "0.0\u00a0%", "−10⁻²⁹⁸\u00a0%"),
        (-0.012, "−1.2\u00a0%", "−1.2\u00a0%"),
        (0.000123, "0.0\u00a0%", "0.0123\u00a0%"),
        (np.nan, "–", "–\u00a0%"),
    ],
)
def test_shares_have_a_percent_sign_that_stays_with_them(share, one, digits):
    assert percent(share) == one
    assert portion(share) == digits


@pytest.mark.parametrize(
    ("count", "english", "chinese"),
    [
        (9999, "9,999", "9,999"),
        (43_000, "43,000", "4.3\u00a0万"),
        (4_300_000_000, "4.3\u00a0billion", "43\u00a0亿"),
        (1_100_000_000_000, "1.1\u00a0trillion", "1.1\u00a0万亿"),
        (550_000_000_000, "550\u00a0billion", "5,500\u00a0亿"),
    ],
)
def test_large_counts_have_the_words_of_a_language(count, english, chinese):
    assert many(count, texts("en")) == english
    assert many(count, texts("zh")) == chinese


@pytest.mark.parametrize(
    ("limit", "ticks"),
    [
        (1e-6, {0: "1"}),
        (0.25, {-0.25: "1/1.19", 0: "1", 0.25: "1.19"}),
        (1.0, {-1: "1/2", 0: "1", 1: "2"}),
        (3.2, {-2: "1/4", 0: "1", 2: "4"}),
        (12.0, {-10: "1/1,020", -5: "1/32", 0: "1", 5: "32", 10: "1,020"}),
        (1074.0, {-1000: "9.33\u00a0×\u00a010⁻³⁰²", -500: "3.05\u00a0×\u00a010⁻¹⁵¹", 0: "1"}),
    ],
)
def test_exponents_are_written_as_factors(limit, ticks):
    shown = factors(limit)
    assert dict(list(shown.items())[: len(ticks)]) == ticks
    assert list(shown) == [-place for place in reversed(shown)]
    assert len(factors(limit, 2)) <= 3


@pytest.mark.parametrize(
    ("count", "english", "chinese"),
    [
        (1, "1 token", "1 个词元"),
        (2, "2 tokens", "2 个词元"),
        (1002, "1,002 tokens", "1,002 个词元"),
        (2**54, "1.8\u00a0×\u00a010¹⁶ tokens", "1.8\u00a0×\u00a010¹⁶ 个词元"),
        (np.inf, "∞ tokens", "∞ 个词元"),
        (0.999999, "1 token", "1 个词元"),
        (0.25, "0.25 tokens", "0.25 个词元"),
        (1234.5, "1,230 tokens", "1,230 个词元"),
    ],
)
def test_tokens_are_counted_in_words(count, english, chinese):
    assert tokens(count, texts("en")) == english
    assert tokens(count, texts("zh")) == chinese


def test_a_window_of_one_token_is_named_by_it():
    assert span(range(5, 6), texts("en")) == "token 5"
    assert span(range(5, 9), texts("en")) == "tokens 5 to 8"
    assert span(range(5, 6), texts("zh")) == "词元 5"
    assert span(range(5, 9), texts("zh")) == "词元 5 到 8"


def test_an_encoding_is_written_with_its_parameters():
    encoding, text = xpos(64, base=1e5, gamma=0.25, scale_base=1024.0), texts("en")
    assert settings(encoding, text) == "base 100,000, γ 0.25, B 1,024"
    assert label(encoding, text) == "XPos (base 100,000, γ 0.25, B 1,024)"
    assert settings(rope(8), text) == "base 10,000"
    assert label(rope(8), text) == "RoPE (base 10,000)"
    assert (settings(nope(8), text), label(nope(8), text)) == ("", "NoPE")
    assert settings(encoding, texts("zh")) == "底数 100,000，γ 0.25，B 1,024"
    assert label(rope(8).within(32), text) == "RoPE (base 10,000, 8 of 32 columns)"
    assert label(nope(8).within(32), text) == "NoPE (8 of 32 columns)"
    assert settings(rope(8).within(32), texts("zh")) == "底数 10,000，32 列中的 8 列"


LEARNED = tuple(bucket / 4 - 2 for bucket in range(32))


@pytest.mark.parametrize(
    ("encoding", "english", "chinese"),
    [
        (
            xpos(8, gamma=(0.8, 0.2, 0.4)),
            "base 10,000, γ 0.2 … 0.8 in 3 heads, B 512",
            "底数 10,000，γ 0.2 … 0.8，共 3 个头，B 512",
        ),
        (
            longrope(8, factors=(1.0, 1.5, 2.5, 4.0)),
            "base 10,000, e 1 … 4 in 4 pairs, s 4, L₀ 2,048",
            "底数 10,000，e 1 … 4，共 4 对，s 4，L₀ 2,048",
        ),
        (t5(8, table=LEARNED), "table −2 … 5.75 in 32 buckets", "表 −2 … 5.75，共 32 个桶"),
        (t5(8, table=(LEARNED,) * 3), "table −2 … 5.75 in 3 heads", "表 −2 … 5.75，共 3 个头"),
    ],
    ids=["heads", "pairs", "buckets", "heads of buckets"],
)
def test_several_values_are_written_as_their_range(encoding, english, chinese):
    assert settings(encoding, texts("en")) == english
    assert settings(encoding, texts("zh")) == chinese


@each_language
def test_every_family_can_be_written(language):
    text = texts(language)
    for encoding in cases.assorted(8):
        words = label(encoding, text)
        assert words.startswith(text(f"families.{encoding.name}"))
        assert all(text(f"symbols.{name}") in words for name in encoding.family.parameters)
