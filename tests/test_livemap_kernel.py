"""The live map's kernel in a real Chromium, against the Python core."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import sync_playwright

import xpos_viz
from tests import cases, reference, tolerances
from xpos_viz import (
    attention_logits,
    attention_scores,
    attention_weights,
    decay_curve,
    lag_response,
    nope,
    rope,
    xpos,
)
from xpos_viz.attention import visible_keys
from xpos_viz.entry import to_pairs
from xpos_viz.experiment import STAGES
from xpos_viz.livemap.message import DRAWN
from xpos_viz.pooling import block_any, block_mean, block_size, robust_limit

pytestmark = pytest.mark.browser

MODULES = Path(xpos_viz.__file__).parent / "livemap" / "js"
HARNESS = Path(__file__).with_name("livemap_kernel_harness.js")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
HOST = "http://127.0.0.1:9"  # nothing listens there: every request is answered by the test
MASKS = ("causal", "none")
MODERATE = [
    *(nope(8), rope(8), rope(8, base=500_000.0), xpos(8)),
    xpos(8, base=100.0, gamma=1.5, scale_base=64.0),
]
EXTREME = [
    xpos(8, scale_base=1.0),
    xpos(8, gamma=1e-6, scale_base=1.0),
    xpos(8, gamma=1e-6, scale_base=64.0),
    xpos(8, base=1.0, gamma=1e-6, scale_base=0.01),
    xpos(8, gamma=1e6, scale_base=1e-3),
    xpos(8, scale_base=1e9),
]
TINY = 2.0**-149  # the smallest float32 above zero


# The page and what it is asked


@pytest.fixture(scope="module")
def kernel(chromium):
    """Call a function of the harness in a page that reaches no network."""
    files = {f"/js/{path.name}": path for path in MODULES.glob("kernel*.js")}
    files["/harness.js"] = HARNESS
    faults = []

    def answer(route):
        path = route.request.url.removeprefix(HOST)
        if path == "/":
            route.fulfill(body="<!doctype html>", content_type="text/html")
        elif path in files:
            route.fulfill(path=files[path], content_type="text/javascript")
        else:
            faults.append(route.request.url)
            route.abort()

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page()
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.route("**/*", answer)
        page.goto(f"{HOST}/")

        def call(name, argument=None):
            script = (
                "async ([name, text]) =>"
                " JSON.stringify((await import('/harness.js'))[name](JSON.parse(text)))"
            )
            return json.loads(page.evaluate(script, [name, json.dumps(argument)]))

        yield call
        browser.close()
    assert set(faults) <= {f"{HOST}/favicon.ico"}


def encoded(array):
    """An array as base64 of its bytes."""
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def decoded(text, dtype):
    """An array from base64 of its bytes."""
    return np.frombuffer(base64.b64decode(text), dtype)


def by_name(encoding):
    """An encoding as the page is told it: what it derives itself."""
    _, *parameters = encoding.parameters
    return {"name": encoding.name, "parameters": dict(parameters), "headDim": encoding.head_dim}


def by_rates(encoding):
    """An encoding as the page is told it: the core's rates."""
    return {"theta": encoding.theta.tolist(), "logDecay": encoding.log_decay.tolist()}


def ask(kernel, q, k, layout, requests):
    """Answers about queries and keys, whose columns the page wants as interleaved pairs."""
    width = q.shape[-1]
    q, k = (torch.view_as_real(to_pairs(x, layout, width)).flatten(-2) for x in (q, k))
    data = {"q": encoded(q.numpy()), "k": encoded(k.numpy()), "headDim": width}
    return kernel("ask", data | {"requests": requests})


def request(encoding, stage, mask, window, size, **spans):
    """A map to be computed; spans of its rows and columns, in blocks, for a part of it."""
    return {
        "kind": "values",
        "encoding": by_name(encoding),
        "stage": stage,
        "mask": mask,
        "start": window.start,
        "stop": window.stop,
        "block": block_size(len(window), size),
        **spans,
    }


# The core's answers


class Core:
    """What the core says about the queries in a range and all keys, in float64."""

    def __init__(self, q, k, layout, encoding, rows):
        self.encoding, self.rows = encoding, rows
        self.m = torch.arange(rows.start, rows.stop).double()
        self.n = torch.arange(len(k)).double()
        queries = q[rows.start : rows.stop]
        self.scores = attention_scores(queries, k, encoding, query_positions=self.m, layout=layout)
        self.sizes = magnitudes(queries, k, layout, encoding, self.m[:, None] - self.n)

    def stage(self, stage, mask):
        """Values and what bounds them, and which cells are seen."""
        seen = visible_keys(mask, self.m, self.n)
        if stage == "weights":
            logits = attention_logits(self.scores, self.encoding, mask=seen, query_positions=self.m)
            return attention_weights(logits), torch.ones_like(logits), seen
        scale = 1.0 if stage == "scores" else self.encoding.head_dim**-0.5
        return self.scores * scale, self.sizes * scale, seen

    def means(self, stage, mask, block, columns):
        """Means over blocks, as results.measure has them, and whether a block is seen."""
        values, sizes, seen = (x[:, columns.start : columns.stop] for x in self.stage(stage, mask))
        return (
            block_mean(values, seen, block),
            block_mean(sizes, seen, block),
            block_any(seen, block),
        )


def magnitudes(q, k, layout, encoding, lags):
    """Σ |q_i||k_i| ζ_i^(Δ/B) of every cell; inf where that exceeds float64."""
    queries, keys = (to_pairs(x, layout, encoding.head_dim).abs() for x in (q, k))
    total = torch.zeros_like(lags)
    for pair, rate in enumerate(encoding.log_decay.tolist()):
        content = queries[:, None, pair] * keys[:, pair]
        total += torch.where(content == 0, 0.0, content * (rate * lags).exp())
    return total


def assert_means(answer, core, stage, mask, columns, *, rows=slice(None), spans=None):
    """A panel, or some of its rows, is what the core says, to float32; of a part, that part."""
    shape = (answer["rows"], answer["columns"])
    actual = torch.from_numpy(decoded(answer["values"], np.float32).copy()).double()
    actual = actual.reshape(shape)[rows]
    expected, sizes, seen = (
        x[spans] if spans else x for x in core.means(stage, mask, answer["block"], columns)
    )
    assert actual.shape == expected.shape
    assert torch.equal(actual.isnan(), ~seen)
    mixed = expected.isnan() & seen  # +inf and −inf in one block: the core gives no mean
    assert actual[mixed].isinf().all()
    rounded = expected.float().double()  # ±inf beyond float32
    allowed = tolerances.LIVE * torch.where(sizes.isfinite(), sizes, 0.0) + TINY
    same = (actual == rounded) | ((actual - expected).abs() <= allowed)
    wrong = seen & ~mixed & ~same
    assert not wrong.any(), (core.encoding, stage, mask, actual[wrong][:4], expected[wrong][:4])


def assert_maps(kernel, q, k, layout, encodings, windows, sizes, stages=STAGES, masks=MASKS):
    """All maps of some inputs, one after the other with the same memory."""
    asked = [
        (encoding, stage, mask, window, size)
        for encoding in encodings
        for window in windows
        for size in sizes
        for mask in masks
        for stage in stages
    ]
    answers = ask(kernel, q, k, layout, [request(*one) for one in asked])
    cores = {(e, w): Core(q, k, layout, e, w) for e in encodings for w in windows}
    for (encoding, stage, mask, window, size), answer in zip(asked, answers, strict=True):
        block = block_size(len(window), size)
        count = -(-len(window) // block)
        said = [answer[name] for name in ("rows", "columns", "block", "mask")]
        assert said == [count, count, block, mask]
        edges = [answer[name] for name in ("top", "bottom", "left", "right")]
        assert edges == [window.start, window.stop] * 2
        assert answer["alike"]  # step by step
        assert_means(answer, cores[encoding, window], stage, mask, window)


# Maps


WINDOWS = [range(100), range(31, 94), range(99, 100)]
SIZES = [512, 40, 7]
each_encoding = pytest.mark.parametrize("encoding", [*MODERATE, *EXTREME], ids=repr)


@each_encoding
@pytest.mark.parametrize("layout", cases.LAYOUTS)
def test_maps_are_the_core_s(kernel, encoding, layout):
    """Every stage and mask, whole and in windows, cell by cell and in blocks."""
    q, k = cases.normal(2, 100, 8)
    assert_maps(kernel, q, k, layout, [encoding], WINDOWS, SIZES)


@pytest.mark.parametrize("head_dim", [2, 6, 64, 128])
def test_maps_of_any_width_are_the_core_s(kernel, head_dim):
    q, k = cases.normal(2, 70, head_dim, seed=head_dim)
    encodings = [xpos(head_dim), xpos(head_dim, gamma=1e-6, scale_base=1.0)]
    assert_maps(kernel, q, k, "interleaved", encodings, [range(70)], [70, 12])


@pytest.mark.parametrize("tokens", [1, 2, 3, 5, 63, 64, 65, 129])
def test_maps_of_any_length_are_the_core_s(kernel, tokens):
    """At and beside the lengths at which rows are taken together."""
    q, k = cases.normal(2, tokens, 4, seed=tokens)
    windows = [range(tokens), range(tokens // 2, tokens)]
    assert_maps(kernel, q, k, "interleaved", [xpos(4, scale_base=8.0)], windows, [tokens, 3])


@pytest.mark.parametrize("scale_base", [1e-300, 5e-324])
def test_the_fastest_decay_there_is(kernel, scale_base):
    """Causal maps are the core's; above the diagonal the fastest pair decides the sign."""
    encoding, whole = xpos(8, scale_base=scale_base), range(30)
    q, k = cases.normal(2, 30, 8)
    assert_maps(kernel, q, k, "interleaved", [encoding], [whole], [30, 7], masks=["causal"])
    asked = request(encoding, "scores", "none", whole, 30)
    cells = [[m, n] for m in whole for n in whole]
    cell = {"kind": "cell", "encoding": by_name(encoding), "cells": cells}
    answer, single = ask(kernel, q, k, "interleaved", [asked, asked | cell])
    actual = decoded(answer["values"], np.float32).reshape(30, 30)
    assert (np.isinf(actual) == np.triu(np.ones((30, 30)), 1)).all()
    rates = cases.oracle_rates(xpos(8, scale_base=1e-6))  # there the oracle's exponents fit
    score = reference.matrix(reference.score, q, k, whole, whole, rates)
    alike = scale_base > 1e-310  # pairs whose decay is the largest float64 are all as fast
    assert (np.sign(actual) == np.sign(score)).all() or not alike
    assert np.array_equal(actual, decoded(single, np.float64).astype(np.float32).reshape(30, 30))


@pytest.mark.parametrize("silent", [[0], [1, 2, 3], range(4)], ids=str)
@pytest.mark.parametrize("encoding", EXTREME[:4], ids=repr)
def test_pairs_without_content_do_not_hide_the_others(kernel, encoding, silent):
    """Pair 0 grows fastest; where it is empty, the next one decides between value and ±inf."""
    q, k = cases.normal(2, 80, 8)
    for pair in silent:
        q[::2, 2 * pair : 2 * pair + 2] = 0
        k[::3, 2 * pair : 2 * pair + 2] = 0
    q[10], k[70] = 0, 0
    assert_maps(kernel, q, k, "interleaved", [encoding], [range(80)], [80])


def test_large_and_small_contents(kernel):
    q, k = cases.normal(2, 60, 8)
    for scale in (1e-12, 1e12):
        assert_maps(
            kernel, q * scale, k, "half", [xpos(8), EXTREME[1]], [range(60)], [60, 9], ["scores"]
        )


def test_a_long_map_in_blocks(kernel):
    """Down to single cells by zooming in."""
    q, k = cases.normal(2, 1000, 16)
    encodings = [xpos(16), xpos(16, gamma=1e-6, scale_base=1.0)]
    windows = [range(1000), range(400, 841), range(700, 800)]
    assert_maps(kernel, q, k, "half", encodings, windows, [128], ["scores", "weights"])


PARTS = [([0, 3], [4, 10]), ([6, 10], [0, 4]), ([2, 7], [4, 9]), ([5, 6], [5, 6]), ([3, 9], [1, 5])]
"""Rows and columns of ten: above, below and across the diagonal, on it, and wide."""


@each_encoding
@pytest.mark.parametrize("window", [range(95), range(21, 116)], ids=str)
def test_parts_of_a_map_are_the_core_s(kernel, encoding, window):
    """In blocks, the last of which is shorter, and cell by cell."""
    q, k = cases.normal(2, 120, 8)
    asked = [
        (stage, mask, size, tuple([side * size // 10 for side in sides] for sides in part))
        for part in PARTS
        for size in (10, 95)
        for mask in MASKS
        for stage in STAGES
    ]
    answers = ask(
        kernel,
        *(q, k, "interleaved"),
        [
            request(encoding, stage, mask, window, size, rows=rows, columns=columns)
            for stage, mask, size, (rows, columns) in asked
        ],
    )
    core = Core(q, k, "interleaved", encoding, window)
    for (stage, mask, _, (rows, columns)), answer in zip(asked, answers, strict=True):
        block = answer["block"]
        edges = [min(window.start + a * block, window.stop) for a in (*rows, *columns)]
        assert [answer[name] for name in ("top", "bottom", "left", "right")] == edges
        assert answer["alike"]
        assert_means(answer, core, stage, mask, window, spans=(slice(*rows), slice(*columns)))


@pytest.mark.parametrize("encoding", [rope(8), xpos(8), EXTREME[1]], ids=repr)
def test_a_part_far_from_the_diagonal_of_a_very_long_text(kernel, encoding):
    q, k = cases.normal(2, 9000, 8)
    for at, columns in (([8900, 8990], [10, 70]), ([10, 70], [8900, 8990])):
        rows = range(*at)
        asked = [
            request(encoding, stage, mask, range(9000), 9000, rows=at, columns=columns)
            for stage, mask in (("scores", "none"), ("weights", "none"))
        ]
        core = Core(q, k, "interleaved", encoding, rows)
        spans = (slice(None), slice(*columns))
        for answer, one in zip(ask(kernel, q, k, "interleaved", asked), asked, strict=True):
            assert_means(answer, core, one["stage"], "none", range(9000), spans=spans)


@pytest.mark.parametrize("encoding", [rope(8), xpos(8), EXTREME[1]], ids=repr)
def test_some_rows_of_a_very_long_map(kernel, encoding):
    tokens, size = 9000, 100
    q, k = cases.normal(2, tokens, 8)
    whole, block = range(tokens), 90
    answers = ask(
        kernel, q, k, "interleaved", [request(encoding, "scores", m, whole, size) for m in MASKS]
    )
    for row in (0, 47, 99):
        core = Core(q, k, "interleaved", encoding, range(row * block, (row + 1) * block))
        for mask, answer in zip(MASKS, answers, strict=True):
            assert_means(answer, core, "scores", mask, whole, rows=slice(row, row + 1))


# Cells, curves, limits


@each_encoding
def test_cells_and_shares_are_the_core_s(kernel, encoding):
    """To float64, where the page is given the core's rates."""
    tokens = 120
    q, k = cases.normal(2, tokens, encoding.head_dim)
    core = Core(q, k, "half", encoding, range(tokens))
    drawn = torch.randint(tokens, (60, 2), generator=torch.Generator().manual_seed(0))
    cells = [[0, 0], [119, 0], [0, 119], [5, 5], [6, 5], *drawn.tolist()]
    at = tuple(torch.tensor(cells).T)
    asked = [(stage, mask) for stage in STAGES for mask in MASKS]
    base = {"encoding": by_rates(encoding), "cells": cells}
    requests = [base | {"kind": "cell", "stage": stage, "mask": mask} for stage, mask in asked]
    *answers, shares = ask(kernel, q, k, "half", [*requests, base | {"kind": "shares"}])
    for (stage, mask), answer in zip(asked, answers, strict=True):
        values, sizes, seen = (x[at] for x in core.stage(stage, mask))
        actual = torch.from_numpy(decoded(answer, np.float64).copy())
        assert torch.equal(actual.isnan(), ~seen)
        assert_close(actual[seen], values[seen], sizes[seen])
    parts = torch.from_numpy(decoded(shares, np.float64).copy()).reshape(len(cells), -1)
    assert_shares(parts, q[at[0]], k[at[1]], core, at)


def assert_shares(parts, q, k, core, at):
    """Each pair's part is its own term, and parts sum to the score."""
    encoding, sizes = core.encoding, core.sizes[at]
    queries, keys = (to_pairs(x, "half", encoding.head_dim) for x in (q, k))
    lags = (at[0] - at[1]).double()
    terms = (queries * keys.conj() * lag_response(encoding, lags)).real
    finite = sizes.isfinite()
    assert_close(parts[finite], terms[finite], sizes[finite, None])
    assert_close(parts[finite].sum(-1), core.scores[at][finite], sizes[finite])
    assert not parts.isnan().any()


def assert_close(actual, expected, sizes):
    """Agreement to float64, infinities included."""
    allowed = tolerances.EXACT * torch.where(sizes.isfinite(), sizes, 0.0)
    same = (actual == expected) | ((actual - expected).abs() <= allowed + TINY)
    assert same.all(), (actual[~same], expected[~same])


def test_rates_are_the_core_s(kernel):
    encodings = [*MODERATE, *EXTREME, xpos(2), xpos(128), xpos(64, gamma=1e9, base=1e7)]
    encodings += [rope(16).within(64), xpos(4, gamma=0.2).within(6)]
    answers = kernel("allRates", [by_name(encoding) for encoding in encodings])
    for encoding, (theta, log_decay) in zip(encodings, answers, strict=True):
        assert theta == pytest.approx(encoding.theta.tolist(), rel=tolerances.POWER, abs=0)
        assert log_decay == pytest.approx(encoding.log_decay.tolist(), rel=tolerances.POWER, abs=0)


def test_curves_are_the_core_s(kernel):
    encodings = [*MODERATE, *EXTREME]
    lags = [*range(2049), *np.geomspace(0.01, 8192, 200).tolist()]
    answers = kernel(
        "curves", {"encodings": [by_rates(encoding) for encoding in encodings], "lags": lags}
    )
    for encoding, answer in zip(encodings, answers, strict=True):
        expected = decay_curve(encoding, lags)
        bound = torch.full_like(expected, encoding.head_dim / 2)
        assert_close(torch.from_numpy(decoded(answer, np.float64).copy()), expected, bound)


def test_limits_are_the_core_s(kernel):
    generator = np.random.default_rng(0)
    many = [generator.standard_normal(512 * 512).astype(np.float32) for _ in range(3)]
    few = np.array([-4.0, 2.0, np.nan, np.inf, -np.inf, 0.0, 1e-40, 3e38], np.float32)
    ties = np.repeat(np.array([1.0, -2.0], np.float32), 500)
    sets = [[few], [ties], [few, many[0][:1000]], [np.zeros(9, np.float32)]]
    sets += [[np.full(9, np.nan, np.float32)], [np.zeros(0, np.float32)], [few[:1]]]
    asked = [(arrays, share) for arrays in sets for share in (0.995, 1.0, 0.3, 0.0)]
    asked.append((many, 0.995))
    answers = kernel(
        "limits",
        [{"arrays": [encoded(a) for a in arrays], "share": share} for arrays, share in asked],
    )
    for (arrays, share), answer in zip(asked, answers, strict=True):
        assert answer == robust_limit(*arrays, share=share)


# What is kept, and what is refused


def test_panels_are_filled_again_only_for_another_answer(kernel):
    assert kernel("panels") == dict.fromkeys(
        ("untouched", "kept", "refilled", "other", "reused", "moved", "distinct", "distinctRows"),
        True,
    )


def test_messages_show_the_value_and_a_way_out(kernel):
    shape = "q and k must hold {} numbers in pairs, got {}; use the shape that they have."
    window = (
        "a map needs 0 ≤ start < stop ≤ 3 and block ≥ 1, got {}; use whole numbers in that order."
    )
    span = "{} must be 0 ≤ first < last ≤ {}, got {}; use whole numbers in that order."
    assert kernel("messages") == [
        f"RangeError: {message}"
        for message in (
            f'unknown encoding "alibi"; use one of: {", ".join(DRAWN)}.',
            shape.format("3 × 4", "12 and 8"),
            shape.format("3 × 3", "9 and 9"),
            f'unknown stage "logits"; use one of: {", ".join(STAGES)}.',
            'unknown mask "sliding:2"; use one of: causal, none.',
            window.format("0, 4 and 1"),
            window.format("3, 3 and 1"),
            window.format("0, 3 and 0.5"),
            window.format("0, 3 and 0"),
            span.format("rows", 3, "2 and 2"),
            span.format("columns", 2, "0 and 3"),
        )
    ]
