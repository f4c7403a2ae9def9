"""Neighbours as data: maps whose titles fit, and the table of all encodings."""

import re

from xpos_viz import Experiment, nope, rope, run, xpos
from xpos_viz.comparison import compare
from xpos_viz.encoding import REGISTRY, Encoding, alibi, dynamic_ntk, retnet, yarn_hf
from xpos_viz.experiment import View
from xpos_viz.figures.neighbours import family_words, pair_maps, share_rows
from xpos_viz.inputs import Expectation
from xpos_viz.texts import texts

EN = texts("en")


def test_the_table_is_written_one_way_in_either_language():
    encodings = [Encoding(name, (("head_dim", 16),)) for name in REGISTRY]
    shown = share_rows([*encodings, retnet(64, base=100_000.0)], EN)
    assert len(shown) == 17
    assert list(shown.columns) == [
        *("1 token", "16 tokens", "256 tokens", "4,096 tokens", "65,536 tokens")
    ]
    assert shown.iloc[0].tolist() == ["1.000"] * 5
    assert shown.iloc[-1].tolist() == ["0.941", "0.409", "0.000", "0.000", "0.000"]
    assert all(re.fullmatch(r"−?[01]\.\d{3}", cell) for row in shown.to_numpy() for cell in row)
    chinese = share_rows(encodings, texts("zh"))
    assert (chinese.columns[0], chinese.index[4]) == ("1 个词元", "仅衰减")


def test_a_family_is_described_in_whole():
    source = "Sun et al. 2022, arXiv:2212.10554, eq. 9"
    formula = "λᵢ = iθᵢ + ln(ζᵢ)/B,  ζᵢ = (2i/d + γ)/(1 + γ)"
    assert family_words(xpos(16), EN) == ("XPos (base 10,000, γ 0.4, B 512)", formula, source)
    assert family_words(xpos(16), texts("zh"))[0] == "XPos（底数 10,000，γ 0.4，B 512）"


def test_a_limit_in_a_formula_is_not_broken_in_two():
    assert family_words(dynamic_ntk(16), EN)[1].endswith(",  L\u00a0≥\u00a0L₀")


def test_long_parameters_stand_below_the_maps():
    result = run(Experiment((yarn_hf(8), rope(8)), Expectation(4)))
    maps = pair_maps(compare(result), EN)
    assert [panel.title for panel in maps.panels] == [
        ("YaRN (transformers)", "raw scores q·k, causal mask"),
        ("RoPE", "raw scores q·k, causal mask"),
        ("RoPE − YaRN (transformers)", "raw scores q·k, causal mask"),
    ]
    assert maps.notes[0] == (
        "YaRN (transformers) (base 10,000, s 4, L₀ 2,048, α 1, β 32, truncate 1), "
        "RoPE (base 10,000)"
    )


def test_a_bias_is_in_the_maps_from_the_logits_on():
    pair = (nope(4), alibi(4, slope=0.5))
    rows = [
        pair_maps(compare(run(Experiment(pair, Expectation(4), View(stage=stage)))), EN)
        .panels[1]
        .values[3]
        .tolist()
        for stage in ("scores", "masked")
    ]
    assert rows == [[4, 4, 4, 4], [0.5, 1, 1.5, 2]]
