"""Wrong use is refused with a message that has a way out."""

import pytest

from tests.cli.command import refused

REFUSALS = {
    ("curve", "foo"): "unknown encoding 'foo'; use one of: nope, rope, p_rope, xpos, decay, "
    "retnet, interpolation, ntk, dynamic_ntk, longrope, yarn, yarn_hf, llama3, alibi, t5, "
    "t5_bidirectional.",
    ("curve", "rope", "--gamma", "3"): "--gamma is no parameter of rope, got '3'; leave it out, "
    "or use one of: xpos, decay.",
    ("pairs", "xpos", "rope", "--gamma", "1", "--gamma", "2"): "--gamma must be given once, or "
    "once for each encoding that has it (xpos), got 2 values: 1, 2.",
    ("pairs", "xpos", "--gamma", "-1"): "gamma must be a finite number > 0, got -1.0; the usual "
    "value is 0.4.",
    ("pairs", "--head-dim", "7"): "head_dim must be an even integer ≥ 2, got 7; use 6 or 8.",
    ("pairs", "--head-dim", "1000000000"): "head_dim must be at most 512 here, got 1000000000; "
    "use 512, or set XPOS_VIZ_MAX_HEAD_DIM.",
    ("curve", "--lags", "a,b"): "lags must be numbers of tokens, got 'a,b'; use 0,100,1024 or "
    "start:stop:step, such as 0:4097:64.",
    ("curve", "--lags", "5:1"): "lags must be at least one, got none in '5:1'; use 0,100,1024 or "
    "start:stop:step, such as 0:4097:64.",
    ("curve", "--lags", ",,"): "lags must be at least one, got none in ',,'; use 0,100,1024 or "
    "start:stop:step, such as 0:4097:64.",
    ("curve", "--lags", "0:10000000000"): "lags must be at most 1,000,000, got 10,000,000,000 in "
    "'0:10000000000'; use 0,100,1024 or start:stop:step, such as 0:4097:64.",
    ("curve", "--curves", "h"): "unknown curve 'h'; use one of: g, envelope, running_mean, "
    "bound, bias.",
    ("map", "--source", "random", "--length", "99999999"): "length must be at most 1048576 here, "
    "got 99999999; use 1048576, or set XPOS_VIZ_MAX_LONG_LENGTH.",
    ("map", "xpos", "--gamma", "1,2"): "a map shows one head, got 2; use one number.",
    ("map", "xpos", "--length", "4096"): "--length is not for --source sample, got '4096'; use it "
    "with --source expectation or --source random, or leave it out.",
    ("map", "--source", "random", "--layer", "3"): "--layer is not for --source random, got '3'; "
    "use it with --source sample or --data, or leave it out.",
    ("map", "--name", "hamlet"): "unknown name 'hamlet'; use one of: tidebook, harbour, pronoun, "
    "chinese, lantern, bridge, translation.",
    ("precision", "--dtypes", "int8"): "unknown dtype 'int8'; use one of: float16, bfloat16, "
    "float32, float64.",
    ("precision", "--of", "angles", "--lengths", "x"): "lengths must be whole numbers between "
    "commas, got 'x'; use 512,2048.",
    ("precision", "--of", "angles", "--lengths", "99999999"): "lengths must be 1 to 1,048,576 "
    "tokens here, got 99,999,999; use 512.",
    ("resolution", "--tokens", "99999999"): "tokens must be at most 1048576 here, got 99999999; "
    "use 1048576, or set XPOS_VIZ_MAX_LONG_LENGTH.",
    ("resolution", "--masks", "round"): "unknown mask 'round'; use one of: causal, none, "
    "sliding:size, blockwise:size (size ≥ 1 token), or a bool tensor.",
    ("curve", "--out", "a.docx"): "a.docx has the ending .docx; use one of: "
    ".csv, .json, .parquet, .npz.",
    ("curve", "--out", "nowhere/a.csv"): "there is no folder nowhere; make it, or use another one.",
    ("curve", "--json", "--out", "a.csv"): "--json prints and --out writes; use one of them: "
    "--out a.json, for instance.",
    ("figure", "--out", "a.png"): "a page must be named; use one of: compare, learn, decay, "
    "pairs, tokens, layers, long, precision, neighbours, choose, lab.",
    ("figure", "maps", "--out", "a.png"): "unknown page 'maps'; use one of: compare, learn, decay, "
    "pairs, tokens, layers, long, precision, neighbours, choose, lab.",
    ("figure", "decay", "maps", "--out", "a.png"): "decay has no picture 'maps'; use one of: "
    "decay.",
    ("figure", "decay", "--curves", "", "--out", "a.png"): "with these settings decay has no "
    "picture; choose an encoding, a format or a text.",
    ("figure", "decay", "--gamma", "-2", "--rho", "500", "--out", "a.png"): "--rho 500: rho must "
    "be a whole number from -100 to 100, got 500; use 50.\n--gamma -2: gamma must be a finite "
    "number > 0, got -2.0; the usual value is 0.4.",
    ("figure", "--link", "http://a/decay?color=red", "--out", "a.png"): "there is no setting "
    "color here, got 'red'; leave it out.",
    ("figure", "--link", "http://[a/decay", "--out", "a.png"): "'http://[a/decay' is no link "
    "(Invalid IPv6 URL); use one that the dashboard shows under Share.",
    ("figure", "--preset", "rare", "--out", "a.png"): "unknown preset 'rare'; use one of: paper, "
    "strong, long, blocks, fp16, trained, evidence, wild.",
    ("figure", "decay", "--size", "poster", "--out", "a.png"): "unknown size of paper 'poster'; "
    "use one of: page, slide, column.",
    ("figure", "decay", "--out", "a"): "a has no ending; use one of: .png, .svg, .pdf, .csv, "
    ".parquet, .npz.",
    ("export", "compare", "scores", "--out", "a.zip"): "without --sweep all of a page is exported, "
    "got the picture 'scores'; use the command figure for one.",
    ("export", "compare", "--out", "a.gif"): "a .gif file moves; use --sweep gamma, or zip, html.",
    ("export", "decay", "--out", "a.html"): "only compare and learn have a hand-out, got 'decay'; "
    "use a .zip.",
    ("export", "decay", "--sweep", "gamma", "--values", "1;2", "--out", "a.gif"): "values must be "
    "numbers between commas, got '1;2'; use 0.1,0.4.",
    ("export", "decay", "--sweep", "gamma", "--out", "a.zip"): "a picture in motion is .html or "
    ".gif, got .zip; use these.",
    ("reproduce", "no.png"): "Invalid value for 'FILE': File 'no.png' does not exist.",
    ("reproduce", "tests"): "Invalid value for 'FILE': File 'tests' is a directory.",
    ("precision", "rope", "--lengths", "512,0"): "lengths must be 1 to 1,048,576 tokens here, got "
    "0; use 512.",
    ("curve", "rope", "--lags", "-5,1e9"): "lags must be whole numbers ≥ 0 for a running mean, got "
    "-5.0; use range(1024), for instance.",
}


@pytest.mark.parametrize("words", REFUSALS, ids=" ".join)
def test_wrong_use_is_said_with_a_way_out(words):
    assert refused(*words) == REFUSALS[words]
