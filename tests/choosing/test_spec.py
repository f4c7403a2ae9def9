"""A sweep as data, and as a file whose errors show the line."""

import numpy as np
import pytest

from tests.choosing.specs import MIXED, spec
from xpos_viz import rope, save_capture, xpos
from xpos_viz.choosing import Goal, Span, Spec, Text, read_spec
from xpos_viz.choosing.objectives import OBJECTIVES
from xpos_viz.encoding import REGISTRY
from xpos_viz.inputs import Captured, Expectation, Sample
from xpos_viz.inputs.sample import SAMPLES, sample_capture

WHOLE = """# what matters
encoding = "xpos"
head_dim = 64
seed = 3
points = 8
lengths = [512, 2048]

[parameters]
base = 100000
gamma = [0.2, 0.4]
scale_base = { from = 64, to = 4096, log = true }

[[texts]]
sample = "harbour"
layers = [8, 16]
heads = [0]

[[objectives]]
name = "resolution"
normalisation = "raw"
weight = 2

[[objectives]]
name = "disturbed"
window = 32
below = 0.02
label = "lost"
"""
OF_WHOLE = Spec(
    parameters=(("base", 1e5), ("gamma", (0.2, 0.4)), ("scale_base", Span(64, 4096, log=True))),
    goals=(
        Goal("resolution", (("normalisation", "raw"),), weight=2),
        Goal("disturbed", (("window", 32),), below=0.02, label="lost"),
    ),
    lengths=(512, 2048),
    texts=(Text("harbour", layers=(8, 16), heads=(0,)),),
    points=8,
    seed=3,
)


def written(tmp_path, text):
    path = tmp_path / "sweep.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_says_what_python_says(tmp_path):
    assert read_spec(written(tmp_path, WHOLE)) == OF_WHOLE


@pytest.mark.parametrize("each", [OF_WHOLE, MIXED, spec()], ids=["whole", "mixed", "short"])
def test_a_spec_is_the_same_after_a_trip_through_a_dict(each):
    assert Spec.from_dict(each.to_dict()) == each


def test_settings_are_all_combinations_each_once():
    found = MIXED.values(np.arange(MIXED.settings))
    grids = [(1e5,), MIXED.spans["gamma"].grid, MIXED.spans["scale_base"].grid]
    wanted = [(a, b, c) for a in grids[0] for b in grids[1] for c in grids[2]]
    assert [*zip(*(each.tolist() for each in found.values()), strict=True)] == wanted
    assert MIXED.encoding_at(34) == xpos(64, base=1e5, gamma=1.6, scale_base=2048.0)


def test_cases_are_lengths_and_heads_as_far_as_they_are_needed():
    assert MIXED.cases == (
        Expectation(64), Expectation(256), Sample("pronoun", 8, 2), Sample("pronoun", 16, 2),
    )  # fmt: skip
    assert (MIXED.settings, MIXED.total) == (35, 140)
    texts = (Text("pronoun"),)
    assert spec(lengths=(9,), texts=texts).cases == (Expectation(9),)
    heads = spec(Goal("entropy"), lengths=(9,), texts=texts).cases
    assert len(heads) == 45
    assert heads[-1] == Sample("pronoun", 29, 8)


def test_a_sobol_sequence_fills_the_spans_evenly():
    spans = (("gamma", Span(0.1, 0.9)), ("scale_base", Span(32.0, 2048.0, log=True)))
    drawn = spec(parameters=(*spans, ("base", (1e4, 1e5))), points=64, seed=5)
    found = drawn.values(np.arange(drawn.settings))
    assert drawn.settings == 128
    assert np.array_equal(found["base"], np.repeat([1e4, 1e5], 64))
    assert np.array_equal(found["gamma"][:64], found["gamma"][64:])
    shares = [(found["gamma"] - 0.1) / 0.8, np.log2(found["scale_base"] / 32) / 6]
    for share in shares:  # one in each 64th, which chance alone would not give
        assert np.array_equal(np.sort((64 * share[:64]).astype(int)), np.arange(64))
    assert np.array_equal(drawn.values(np.array([77]))["gamma"], found["gamma"][77:78])
    other = spec(parameters=spans, points=64, seed=6)
    assert not np.array_equal(other.values(np.arange(64))["gamma"], found["gamma"][:64])


def test_steps_of_whole_parameters_are_whole():
    moved = Spec("dynamic_ntk", (("train_length", Span(512, 4097, 4)),), (Goal("smallest"),))
    assert moved.values(np.arange(4))["train_length"].tolist() == [512, 1707, 2902, 4097]
    assert moved.encoding_at(1)["train_length"] == 1707


def test_a_span_keeps_its_ends():
    for log in (False, True):
        for high in (0.7, 3.3, 1e6 / 7):
            grid = Span(0.1, high, steps=7, log=log).grid
            assert (grid[0], grid[-1]) == (0.1, high)
            assert grid == tuple(sorted(grid))
            assert Span(0.1, high, log=log).share(grid[2]) == pytest.approx(1 / 3)


def test_a_file_of_queries_and_keys_stands_beside_it(tmp_path):
    save_capture(tmp_path / "mine.npz", sample_capture("pronoun"))
    text = '[parameters]\nbase = 1e5\n[[texts]]\nfile = "mine.npz"\nheads = [2]\n'
    found = read_spec(written(tmp_path, text + '[[objectives]]\nname = "entropy"\n'))
    [name] = found.data
    assert name == sample_capture("pronoun").hash
    assert found.cases[1] == Captured(name, 8, 2)
    assert Spec.from_dict(found.to_dict()) == found


CHOICES = ", ".join(OBJECTIVES)
FAMILIES = ", ".join(REGISTRY)
HUGE = str(2**70)
VAST = "1" + "0" * 400  # larger than any float
CASES = {  # what is written instead of what: the line, and the whole message
    ('"xpos"', '"xpas"'): (2, f"unknown encoding 'xpas'; use one of: {FAMILIES}."),
    ('"xpos"', '["xpos"]'): (2, f"unknown encoding ['xpos']; use one of: {FAMILIES}."),
    ('"xpos"', "{ a = 1 }"): (2, f"unknown encoding {{'a': 1}}; use one of: {FAMILIES}."),
    ("head_dim = 64", "head_dim = 1000000000"): (
        3, ("head_dim must be at most 1,024 in a sweep, got 1,000,000,000; "
        "use 64, for instance, or set XPOS_VIZ_MAX_WIDTH.")
    ),
    ("seed = 3", f"seed = {HUGE}"): (
        4, f"seed must be an integer ≥ 0, got {HUGE}; use 0 to 2,147,483,648."
    ),
    ("points = 8", f"points = {HUGE}"): (
        5, f"points must be an integer ≥ 0, got {HUGE}; use 0 to 1,048,576."
    ),
    ("[512, 2048]", f"[512, {HUGE}]"): (
        6, f"a length must be an integer ≥ 1, got {HUGE}; use 1 to 16,777,216."
    ),
    ("log = true", f"steps = {HUGE}"): (
        11, f"steps must be an integer ≥ 0, got {HUGE}; use 0 to 1,048,576."
    ),
    ("log = true", "steps = 1000000000"): (
        11, "steps must be an integer ≥ 0, got 1000000000; use 0 to 1,048,576."
    ),
    ("to = 4096", f"to = {VAST}"): (
        11, f"to must be a finite number, got {VAST[:40]}; use 64."
    ),
    ("from = 64, to = 4096", "from = 1e-300, to = 1e300"): (
        11, ("from and to are too far apart, got 1e-300 to 1e+300; "
        "use ends that are closer.")
    ),
    ("from = 64, to = 4096, log = true", "from = -1e308, to = 1e308"): (
        11, ("from and to are too far apart, got -1e+308 to 1e+308; "
        "use ends that are closer.")
    ),
    ("window = 32", f"window = {HUGE}"): (
        25, f"window must be an integer ≥ 1, got {HUGE}; use 1 to 9,007,199,254,740,992."
    ),
    ("weight = 2", f"weight = {VAST}"): (
        21, (f"weight must be a finite number ≥ 0, got {VAST[:40]}; "
        "use 1, or 0 for what is only limited.")
    ),
    ("weight = 2", 'direction = ["smaller"]'): (
        21, "unknown direction ['smaller']; use one of: smaller, larger."
    ),
    ("weight = 2", "direction = []"): (
        21, "unknown direction []; use one of: smaller, larger."
    ),
    ('"resolution"', "{ a = 1 }"): (
        19, f"unknown objective {{'a': 1}}; use one of: {CHOICES}."
    ),
    ('"raw"', '["raw"]'): (
        20, "unknown normalisation ['raw']; use one of: raw, sqrt_d, half_d."
    ),
    ("head_dim = 64", "head_dim = 63"): (
        3, "head_dim must be an even integer ≥ 2, got 63; use 62 or 64."
    ),
    ("seed = 3", "sead = 3"): (
        4, ("unknown key of a sweep 'sead'; use one of: encoding, head_dim, parameters, lengths, "
        "texts, points, seed, objectives.")
    ),
    ("points = 8", "points = -8"): (
        5, "points must be an integer ≥ 0, got -8; use 0 to 1,048,576."
    ),
    ("[512, 2048]", "[512, 0.5]"): (
        6, "a length must be an integer ≥ 1, got 0.5; use 1 to 16,777,216."
    ),
    ("[512, 2048]", "512"): (6, "lengths must be a list, got 512; use brackets."),
    ("[512, 2048]", "[]"): (18, "resolution needs a length, got none; use lengths = [1024]."),
    ("base = 100000", "share = 1"): (
        9, "unknown parameter of xpos 'share'; use one of: base, gamma, scale_base."
    ),
    ("[0.2, 0.4]", "[0.2, -1]"): (
        10, "gamma must be a finite number > 0, got -1; the usual value is 0.4."
    ),
    ("[0.2, 0.4]", "[]"): (
        10, "gamma must have a value, got none in brackets; the usual value is 0.4."
    ),
    ("[0.2, 0.4]", '"0.4"'): (
        10, ("a parameter must be a number, numbers in brackets, or a span, got '0.4'; "
        "use 0.4, [0.2, 0.4] or { from = 0.1, to = 1, steps = 9 }.")
    ),
    ("[0.2, 0.4]", "[[0.2, 0.4]]"): (
        10, ("a parameter must be a number, numbers in brackets, or a span, got [[0.2, 0.4]]; "
        "use 0.4, [0.2, 0.4] or { from = 0.1, to = 1, steps = 9 }.")
    ),
    ("from = 64", "from = 0"): (
        11, "equal factors need ends > 0, got 0 to 4096; use log = false, or another end."
    ),
    ("from = 64", "from = 5000"): (
        11, ("to must be larger than from, got 5000 to 4096; "
        "use one number for a parameter that does not vary.")
    ),
    ("from = 64", 'from = "64"'): (11, "from must be a finite number, got '64'; use 64."),
    ("log = true", "steps = 1"): (
        11, "steps must be 2 or more, both ends among them, got 1; use 2."
    ),
    ("log = true", "log = 1"): (11, "log must be true or false, got 1; use true."),
    ("log = true", "step = 9"): (
        11, "unknown key of a span 'step'; use one of: from, to, steps, log."
    ),
    ("from = 64, ", ""): (
        11, ("a span must have two ends, got none for 'from'; "
        "use { from = 0.1, to = 1, steps = 9 }.")
    ),
    ('"harbour"', '"harbor"'): (
        14, f"unknown sample 'harbor'; use one of: {', '.join(SAMPLES)}."
    ),
    ('sample = "harbour"\n', ""): (
        13, ('a text must have a sample or a file, got neither; use sample = "tidebook", '
        "for instance.")
    ),
    ("sample =", "simple ="): (
        14, ("unknown key of a text 'simple'; "
        "use one of: sample, file, order, rotated, layers, heads.")
    ),
    ("sample =", "data ="): (
        14, ("unknown key of a text 'data'; "
        "use one of: sample, file, order, rotated, layers, heads.")
    ),
    ("layers = [8, 16]", 'file = "mine.npz"'): (
        15, "unknown key of a text 'file'; use one of: sample, layers, heads."
    ),
    ("[8, 16]", "[8, 9]"): (15, "there is no layer 9; use one of: 0, 8, 16, 24, 29."),
    ("heads = [0]", "heads = [9]"): (16, "there is no head 9; use 0 to 8."),
    ("heads = [0]", "heads = 0"): (16, "heads must be a list, got 0; use brackets."),
    ('"resolution"', '"resolve"'): (19, f"unknown objective 'resolve'; use one of: {CHOICES}."),
    ('name = "resolution"\n', ""): (
        18, ("an objective must have a name, got {'normalisation': 'raw', 'weight': 2}; "
        'use name = "resolution".')
    ),
    ('"raw"', '"none"'): (
        20, "unknown normalisation 'none'; use one of: raw, sqrt_d, half_d."
    ),
    ("normalisation =", "window ="): (
        20, ("unknown key of resolution 'window'; use one of: normalisation, name, label, weight, "
        "direction, wanted, below, above.")
    ),
    ("weight = 2", "weight = -2"): (
        21, "weight must be a finite number ≥ 0, got -2; use 1, or 0 for what is only limited."
    ),
    ("weight = 2", 'direction = "up"'): (
        21, "unknown direction 'up'; use one of: smaller, larger."
    ),
    ("weight = 2", "wanted = 0"): (
        21, "wanted must be a number > 0, got 0; use a direction instead."
    ),
    ("weight = 2", 'wanted = 1\ndirection = "larger"'): (
        21, "what is wanted has no direction, got 1 and 'larger'; use one of them."
    ),
    ("window = 32", "window = 0"): (
        25, "window must be an integer ≥ 1, got 0; use 1 to 9,007,199,254,740,992."
    ),
    ("below = 0.02", "below = true"): (26, "below must be a finite number, got True; use 1."),
    ('label = "lost"', 'label = "resolution(normalisation=raw)"'): (
        23, ("each objective must have a label of its own, got 'resolution(normalisation=raw)' "
        'again; use label = "another".')
    ),
    ('label = "lost"', "label = 3"): (27, "label must be a word, got 3; leave it out."),
}  # fmt: skip


@pytest.mark.parametrize("change", CASES, ids=" → ".join)
def test_what_is_wrong_is_said_with_its_line(change, tmp_path):
    old, new = change
    line, said = CASES[change]
    assert WHOLE.count(old) >= 1
    path = written(tmp_path, WHOLE.replace(old, new, 1))
    with pytest.raises(ValueError) as refused:
        read_spec(path)
    assert str(refused.value) == f"{path}, line {line}: {said}"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"seed = 3\nlengths = [1,, 2]\n", "Invalid value (at line 2, column 14)"),
        (
            b"seed = \xff",
            "'utf-8' codec can't decode byte 0xff in position 7: invalid start byte",
        ),
        (
            b"seed = " + b"9" * 5000,
            (
                "Exceeds the limit (4300 digits) for integer string conversion: value has 5000 "
                "digits; use sys.set_int_max_str_digits() to increase the limit"
            ),
        ),
    ],
    ids=["comma", "bytes", "digits"],
)
def test_what_is_no_toml_is_said(content, said, tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_bytes(content)
    with pytest.raises(ValueError) as refused:
        read_spec(path)
    assert str(refused.value) == f"{path} is no TOML: {said}; use key = value."


def test_brackets_that_are_too_deep_are_no_toml(tmp_path):
    path = written(tmp_path, "seed = " + "[" * 100_000)
    with pytest.raises(ValueError) as refused:
        read_spec(path)
    said = str(refused.value)
    assert said.startswith(f"{path} is no TOML: maximum recursion depth exceeded")
    assert said.endswith("; use key = value.")


def test_a_sweep_has_no_more_points_than_can_be_counted():
    spans = tuple((name, Span(1.0, 2.0, 100_000)) for name in ("base", "gamma"))
    assert spec(parameters=spans, lengths=(9,)).total == 10**10
    with pytest.raises(ValueError) as refused:
        _ = spec(parameters=spans, lengths=(9, 10)).total
    assert str(refused.value) == (
        "a sweep must have at most 10,000,000,000 points, got 20,000,000,000; "
        "use fewer steps or values."
    )


def test_a_sweep_without_objective_or_with_no_steps(tmp_path):
    path = written(tmp_path, "seed = 3\n")
    with pytest.raises(ValueError) as refused:
        read_spec(path)
    assert str(refused.value) == (
        f'{path}: a sweep must have an objective, got none; use name = "resolution".'
    )
    with pytest.raises(ValueError) as refused:
        _ = spec(parameters=(("gamma", Span(0.1, 0.9)),)).settings
    assert str(refused.value) == (
        "gamma has no steps, and there are no points to draw; "
        "use steps = 9, or points = 256 for all spans without steps."
    )


def test_a_table_cannot_vary():
    with pytest.raises(ValueError) as refused:
        Spec("t5", (("table", 1.0),), (Goal("smallest"),))
    assert str(refused.value) == "table is a table and no number, so it cannot vary; leave it out."


def test_a_file_that_is_no_capture_is_said_with_its_line(tmp_path):
    (tmp_path / "mine.npz").write_bytes(b"")
    path = written(tmp_path, 'seed = 1\n[[texts]]\nfile = "mine.npz"\n')
    with pytest.raises(ValueError) as refused:
        read_spec(path)
    assert str(refused.value) == (
        f"{path}, line 3: the file must hold q and k, got an empty file; use save_capture."
    )


OF_FILE = """seed = 1
[[texts]]
file = "mine.npz"
heads = [2]
[[objectives]]
name = "entropy"
"""
SHAPE = "(5, 9, 28, 64) of q and (5, 3, 28, 64) of k"
OF_FILES = {
    ("heads = [2]", "heads = [99]"): (4, "there is no head 99; use 0 to 8."),
    ("heads = [2]", "layers = [99]"): (
        4, "there is no layer 99; use one of: 0, 8, 16, 24, 29."
    ),
    ("heads = [2]", 'order = "heads tokens"'): (
        4, (f"the shapes {SHAPE} cannot be read as 'heads tokens'; "
        "use 'layers heads tokens head_dim'.")
    ),
    ("heads = [2]", 'older = "heads tokens"'): (
        4, ("unknown key of a text 'older'; "
        "use one of: sample, file, order, rotated, layers, heads.")
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", OF_FILES, ids=" → ".join)
def test_what_is_wrong_with_a_text_of_a_file_is_said_with_its_line(change, tmp_path):
    save_capture(tmp_path / "mine.npz", sample_capture("pronoun"))
    line, said = OF_FILES[change]
    path = written(tmp_path, OF_FILE.replace(*change))
    with pytest.raises(ValueError) as refused:
        read_spec(path)
    assert str(refused.value) == f"{path}, line {line}: {said}"


def test_a_file_that_is_no_capture_is_said_with_its_line_whatever_its_order(tmp_path):
    (tmp_path / "mine.npz").write_bytes(b"")
    path = written(tmp_path, OF_FILE.replace("heads = [2]", 'order = "heads tokens"'))
    with pytest.raises(ValueError) as refused:
        read_spec(path)
    assert str(refused.value) == (
        f"{path}, line 3: the file must hold q and k, got an empty file; use save_capture."
    )


def test_every_family_can_be_swept():
    for name, family in REGISTRY.items():
        numbers = [row for row in family.parameters.values() if row.each != "bucket"]
        parameters = tuple((row.name, row.steps[:2] or (0.5, 1.0)) for row in numbers)
        each = Spec(name, parameters, (Goal("smallest"),))
        assert each.settings == 2 ** len(numbers)
        assert each.encoding_at(each.settings - 1).name == name
    assert Spec("rope", (), (Goal("smallest"),)).encoding_at(0) == rope(64)
