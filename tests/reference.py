"""The oracle: the one formula in slow float64 loops, written from the papers.

It imports nothing from ``xpos_viz`` and shares no line with it. One pair of features is one
complex number, a lag is formed before any angle, and sums are exact (``math.fsum``):

    s(m, n) = Re Σ_i q_i · conj(k_i) · exp(λ_i (m − n)),   λ_i = iθ_i + ln(ζ_i)/B
    θ_i = base^(−2i/d)                  RoFormer (Su et al. 2021); Sun et al. 2022
    ζ_i = (2i/d + γ)/(1 + γ)            Sun et al. 2022, eq. 9

Every family of encodings is a function of its name and parameters that returns its rates.
"""

import cmath
import itertools
import math
import struct

import numpy as np


def theta(head_dim, base=10_000.0):
    """Rotation of each pair, rad per token."""
    return [base ** (-2 * i / head_dim) for i in range(head_dim // 2)]


def zeta(head_dim, gamma=0.4):
    """Decay of each pair per scale base, in (0, 1)."""
    return [(2 * i / head_dim + gamma) / (1 + gamma) for i in range(head_dim // 2)]


def rope(head_dim, base=10_000.0):
    """The complex rates λ_i of RoPE, per token."""
    return [complex(0.0, angle) for angle in theta(head_dim, base)]


def xpos(head_dim, base=10_000.0, gamma=0.4, scale_base=512.0):
    """The complex rates λ_i of XPos, per token."""
    decays = [math.log(z) / scale_base for z in zeta(head_dim, gamma)]
    return [complex(d, t) for d, t in zip(decays, theta(head_dim, base), strict=True)]


def nope(head_dim):
    """The rates of no encoding at all."""
    return [0j] * (head_dim // 2)


def decay(head_dim, gamma=0.4, scale_base=512.0):
    """XPos without rotation."""
    return [complex(rate.real, 0.0) for rate in xpos(head_dim, 1.0, gamma, scale_base)]


def retnet(head_dim, base=10_000.0, decay=1 - 2**-5):
    """One decay for all pairs; angles from 1 down to 1/base."""
    last = max(head_dim // 2 - 1, 1)
    return [complex(math.log(decay), base ** (-i / last)) for i in range(head_dim // 2)]


def p_rope(head_dim, base=10_000.0, share=0.75):
    """RoPE whose slow pairs do not turn."""
    turned = math.floor(share * (head_dim // 2) + 1e-9)
    return [rate * (i < turned) for i, rate in enumerate(rope(head_dim, base))]


def interpolation(head_dim, base=10_000.0, factor=4.0):
    """RoPE, `factor` times more slowly."""
    return [rate / factor for rate in rope(head_dim, base)]


def ntk(head_dim, base=10_000.0, factor=4.0):
    """RoPE with the base that slows the last pair down `factor` times; one pair alone stays."""
    power = head_dim / (head_dim - 2) if head_dim > 2 else 0.0
    return rope(head_dim, base * factor**power)


def dynamic_ntk(head_dim, base=10_000.0, factor=2.0, train_length=2048, current_length=4096):
    """The same for the factor that a text of the current length asks for."""
    length = max(current_length, train_length)
    return ntk(head_dim, base, factor * length / train_length - (factor - 1))


def longrope(head_dim, base=10_000.0, factors=4.0, **_):
    """RoPE with a factor for each pair."""
    own = factors if isinstance(factors, tuple) else [factors] * (head_dim // 2)
    return [rate / e for rate, e in zip(rope(head_dim, base), own, strict=True)]


def between(rates, factor, kept):
    """Rates stretched by a factor where they are not kept."""
    return [(1 - k) * rate / factor + k * rate for rate, k in zip(rates, kept, strict=True)]


def yarn(head_dim, base=10_000.0, factor=4.0, train_length=2048, low_turns=1.0, high_turns=32.0):
    """Kept by the number of turns within the training length (the paper's ramp)."""
    rates = rope(head_dim, base)
    turns = [train_length / (2 * math.pi / rate.imag) for rate in rates]
    kept = [min(max((r - low_turns) / (high_turns - low_turns), 0), 1) for r in turns]
    return between(rates, factor, kept)


def llama3(head_dim, base=500_000.0, factor=8.0, train_length=8192, low_turns=1.0, high_turns=4.0):
    """By wavelengths: short ones are kept, long ones stretched, those between are blended."""
    rates = []
    for rate in rope(head_dim, base):
        wavelength = 2 * math.pi / rate.imag
        if wavelength < train_length / high_turns:
            rates.append(rate)
        elif low_turns and wavelength > train_length / low_turns:
            rates.append(rate / factor)
        else:
            smooth = (train_length / wavelength - low_turns) / (high_turns - low_turns)
            rates.append((1 - smooth) * rate / factor + smooth * rate)
    return rates


def yarn_hf(
    head_dim,
    base=10_000.0,
    factor=4.0,
    train_length=2048,
    low_turns=1.0,
    high_turns=32.0,
    truncate=1,
):
    """Kept by the pair's index, with a ramp between the pairs of many and of few turns."""

    def index(turns):
        if turns == 0:
            return float(head_dim - 1)
        return head_dim * math.log(train_length / (turns * 2 * math.pi)) / (2 * math.log(base))

    first, last = index(high_turns), index(low_turns)
    if truncate:
        first, last = math.floor(first), math.ceil(last)
    first, last = (min(max(end, 0), head_dim - 1) for end in (first, last))
    if first == last:
        last += 0.001
    ramp = [min(max((i - first) / (last - first), 0), 1) for i in range(head_dim // 2)]
    return between(rope(head_dim, base), factor, [1 - x for x in ramp])


def alibi(head_dim, **_):
    """The rates of encodings that only add to the logits: none."""
    return nope(head_dim)


t5 = t5_bidirectional = alibi


def t5_bucket(lag, buckets=32):
    """The bucket of a whole lag, in exact integers; keys ahead are at distance 0.

    Bucket e + j begins at e·(128/e)^(j/e), where e is half the number of buckets.
    """
    distance, exact = max(lag, 0), buckets // 2
    if distance < exact:
        return distance
    begun = [j for j in range(exact) if distance**exact >= exact**exact * (128 // exact) ** j]
    return exact + max(begun)


def temperature(name, factor=1.0, train_length=2048, **_):
    """The factor on the logits: cos and sin of YaRN and LongRoPE have its square root."""
    if name in ("yarn", "yarn_hf"):
        return (0.1 * math.log(factor) + 1) ** 2
    return (
        math.sqrt(1 + math.log(factor) / math.log(train_length)) ** 2 if name == "longrope" else 1
    )


def pairs(vector, layout):
    """Read d features as d/2 complex numbers."""
    x = [float(value) for value in vector]
    half = len(x) // 2
    if layout == "half":
        return [complex(x[i], x[i + half]) for i in range(half)]
    return [complex(x[2 * i], x[2 * i + 1]) for i in range(half)]


def score(q, k, lag, rates, layout="interleaved"):
    """s at one lag."""
    mantissa, exponent, _ = scaled_score(q, k, lag, rates, layout)
    return times_exp(mantissa, exponent)


def times_exp(value, exponent):
    """value · e^exponent, ±inf where float64 ends."""
    if value == 0 or exponent < 700:
        return value * math.exp(min(exponent, 700))
    return math.copysign(math.inf, value)


def scaled_score(q, k, lag, rates, layout="interleaved"):
    """s = mantissa · e^exponent, and Σ |q_i||k_i| ζ_i^(Δ/B) = size · e^exponent.

    The exponent is that of the fastest growing pair with any content, so nothing overflows.
    """
    contents = [a * b.conjugate() for a, b in zip(pairs(q, layout), pairs(k, layout), strict=True)]
    growths = [r.real * lag for c, r in zip(contents, rates, strict=True) if c != 0]
    exponent = max(growths, default=0.0)
    mantissa, size = [], []
    for content, rate in zip(contents, rates, strict=True):
        if content == 0:
            continue
        factor = math.exp(rate.real * lag - exponent)
        mantissa.append((content * cmath.rect(factor, rate.imag * lag)).real)
        size.append(abs(content) * factor)
    return math.fsum(mantissa), exponent, math.fsum(size)


def bound(q, k, lag, rates, layout="interleaved"):
    """Σ |q_i||k_i| ζ_i^(Δ/B): the largest score that these magnitudes allow."""
    _, exponent, size = scaled_score(q, k, lag, rates, layout)
    return times_exp(size, exponent)


def matrix(function, q, k, query_positions, key_positions, rates, layout="interleaved"):
    """`score` or `bound` of every query (row) and key (column)."""
    table = np.empty((len(q), len(k)))
    for row, (query, m) in enumerate(zip(q, query_positions, strict=True)):
        for column, (key, n) in enumerate(zip(k, key_positions, strict=True)):
            table[row, column] = function(query, key, m - n, rates, layout)
    return table


def key_head(query_head, query_heads, key_heads):
    """Which key head a query head reads: neighbours share one."""
    return query_head // (query_heads // key_heads)


def decay_curve(rates, lag):
    """g[Δ] = Σ_i cos(Δθ_i) ζ_i^(Δ/B) (Sun et al. 2022, eq. 8)."""
    return math.fsum(math.exp(r.real * lag) * math.cos(r.imag * lag) for r in rates)


def softmax(row, allowed):
    """Weights of one query over the keys that it may see; none at all gives zeros."""
    if not any(allowed):
        return [0.0] * len(row)
    top = max(x for x, seen in zip(row, allowed, strict=True) if seen)
    masses = [math.exp(x - top) if seen else 0.0 for x, seen in zip(row, allowed, strict=True)]
    return [mass / math.fsum(masses) for mass in masses]


def envelope(rates, lag):
    """Σ_i ζ_i^(Δ/B): the decay curve of pairs that do not turn."""
    return math.fsum(math.exp(r.real * lag) for r in rates)


def bound_curve(rates, lag):
    """(1/(d/2)) Σ_j |Σ_{i<j} e^{λ_i Δ}| (Su et al. 2021, §3.4.3, there for RoPE)."""
    sums, total = [], 0j
    for rate in rates:
        total += cmath.exp(rate * lag)
        sums.append(abs(total))
    return math.fsum(sums) / len(rates)


def resolution(curve, exp):
    """R = Σ_i e^{s_i}(e^{s_i} − e^{s_{i+1}}) / (Σ_i e^{s_i})² (Sun et al. 2022, eq. 3).

    `exp` is the exponential of a number type without overflow, since nothing is done about it.
    """
    powers = [exp(s) for s in curve]
    terms = [a * (a - b) for a, b in itertools.pairwise(powers)]
    return sum(terms) / sum(powers[:-1]) ** 2


def diagonals(values, seen, query_positions, key_positions):
    """Visible values by lag."""
    found = {}
    for row, m in enumerate(query_positions):
        for column, n in enumerate(key_positions):
            if seen[row][column]:
                found.setdefault(m - n, []).append(float(values[row][column]))
    return dict(sorted(found.items()))


def mean_and_deviation(values):
    """Mean and (population) standard deviation."""
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((x - mean) ** 2 for x in values) / len(values))


def entropy(row):
    """−Σ w ln w, nats."""
    return -math.fsum(w * math.log(w) for w in row if w > 0)


def rounded(value, dtype):
    """A number as a dtype keeps it, by its bits; nan beyond float16."""
    value = float(value)
    if dtype == "float64":
        return value
    [value] = struct.unpack("f", struct.pack("f", value))
    if dtype == "float32":
        return value
    if dtype == "float16":
        return struct.unpack("e", struct.pack("e", value))[0] if abs(value) < 65520 else math.nan
    [bits] = struct.unpack("I", struct.pack("f", value))
    bits += 0x7FFF + (bits >> 16 & 1)  # bfloat16: the upper half of float32, to the nearest even
    return struct.unpack("f", struct.pack("I", bits >> 16 << 16))[0]


def table_error(angle_rate, position, dtype, kept):
    """|table − e^{iθn}| of one pair at one position."""
    exact = cmath.exp(1j * angle_rate * position)
    if kept == "positions":
        return abs(cmath.exp(1j * angle_rate * rounded(position, dtype)) - exact)
    if kept == "theta":
        return abs(cmath.exp(1j * rounded(angle_rate, dtype) * position) - exact)
    if kept == "angles":
        angle = rounded(rounded(angle_rate, dtype) * rounded(position, dtype), dtype)
        return abs(cmath.exp(1j * angle) - exact)
    return abs(complex(rounded(exact.real, dtype), rounded(exact.imag, dtype)) - exact)


def wrong_score(name, q, k, m, n, base=10_000.0, gamma=0.4, scale_base=512.0, layout="interleaved"):
    """A score as a wrong variant has it: each pair turned, and scaled by its mistaken factor."""
    if name in ("mixed_layouts", "scales_apart"):
        return score_by_columns(name, q, k, m, n, base, gamma, scale_base, layout)
    width, total = len(q), []
    layout = "half" if name == "half_layout" else layout
    if name == "other_gamma":
        gamma += 0.1
    if name == "half_scale_base":
        scale_base /= 2
    if name == "no_scale_base":
        scale_base = 1.0
    for i, (a, b) in enumerate(zip(pairs(q, layout), pairs(k, layout), strict=True)):
        index = i + 1 if name == "zeta_off_by_one" else i
        shrink = math.log((2 * index / width + gamma) / (1 + gamma)) / scale_base
        lag = m + 1 - n if name == "late_queries" else m - n
        exponent = {
            "same_direction": shrink * (m + n),
            "query_only": shrink * m,
            "swapped": -shrink * lag,
            "no_decay": 0.0,
            "linear_growth": math.log1p(m / scale_base) + math.log1p(n / scale_base),
            "by_importance": -math.log1p(m / scale_base) - math.log1p(n / scale_base),
            "centre_off_by_one": shrink * (lag + 1),
        }.get(name, shrink * lag)
        angle = base ** (-2 * i / width) * lag * (-1 if name == "backwards" else 1)
        total.append((a * b.conjugate() * cmath.exp(complex(exponent, angle))).real)
    return math.fsum(total)


def score_by_columns(name, q, k, m, n, base, gamma, scale_base, layout):
    """A score of vectors that are turned column by column, with a table for the wrong ones."""
    width, total = len(q), []
    half = width // 2
    order = [j // 2 if layout == "interleaved" else j % half for j in range(width)]
    other = [j % half if layout == "interleaved" else j // 2 for j in range(width)]
    neighbour = [j ^ 1 for j in range(width)]
    opposite = [(j + half) % width for j in range(width)]
    partner = {"interleaved": neighbour, "half": opposite}[layout]
    if name == "mixed_layouts":
        partner = {"interleaved": opposite, "half": neighbour}[layout]
    scaled = other if name == "scales_apart" else order
    for j in range(width):
        angle = base ** (-2 * order[j] / width)
        zeta = (2 * scaled[j] / width + gamma) / (1 + gamma)
        sign = -1 if j < partner[j] else 1
        query, key = (
            x[j] * math.cos(at * angle) + sign * x[partner[j]] * math.sin(at * angle)
            for x, at in ((q, m), (k, n))
        )
        total.append(query * key * zeta ** ((m - n) / scale_base))
    return math.fsum(total)


def largest_error(name, q, k, query_positions):
    """The largest causal error of a wrong variant, and the positions of its query and key."""
    return max(
        (abs(wrong_score(name, query, k[n], m, n) - wrong_score("", query, k[n], m, n)), m, n)
        for query, m in zip(q, query_positions, strict=True)
        for n in range(m + 1)
    )
