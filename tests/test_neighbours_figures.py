"""Neighbours as data: maps whose titles fit, and the table of all encodings."""

from xpos_viz import Experiment, nope, rope, run
from xpos_viz.comparison import compare
from xpos_viz.encoding import REGISTRY, Encoding, alibi, yarn_hf
from xpos_viz.experiment import View
from xpos_viz.figures.neighbours import family_table, pair_maps
from xpos_viz.inputs import Expectation
from xpos_viz.texts import texts

EN = texts("en")


def test_the_table_is_read_in_either_language():
    encodings = [Encoding(name, (("head_dim", 16),)) for name in REGISTRY]
    shown = family_table(encodings, EN)
    assert len(shown) == 16
    assert list(shown.columns[:3]) == ["Encoding", "1 token", "16 tokens"]
    assert dict(shown.iloc[3][["Encoding", "Parameters", "Source"]]) == {
        "Encoding": "XPos",
        "Parameters": "base 10,000, γ 0.4, B 512",
        "Source": "Sun et al. 2022, arXiv:2212.10554, eq. 9",
    }
    assert shown["Formula"][1] == "λ_i = iθ_i,  θ_i = base^(−2i/d)"
    assert list(family_table(encodings, texts("zh")).columns[:2]) == ["编码", "1 个词元"]


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
