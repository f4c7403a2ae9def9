"""Training of the lab's models: tokens a second with each encoding against the bare model.

The bare model is the same one without positions and without our code in its attention: torch's
scaled_dot_product_attention alone. All take turns, in an order drawn anew, and a rate is divided
by that of the bare model of the same round; the bare model runs twice (the control).
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from benchmarks.report import quartiles, spread, table, verdict
from benchmarks.turns import Times, turns
from xpos_viz.lab import SETTINGS, Corpus, Run, Setting, contenders
from xpos_viz.lab.model import Attention, Sight

GOAL = 0.85
"""Tokens a second of RoPE and XPos over those of the bare model, at least."""

BARE, CONTROL = "bare", "bare again (control)"
WARM_UP = 1  # rounds whose times are thrown away
_STEPS = 10  # of training in a turn
_OURS = ("rope", "xpos_half")


class Bare(Attention):
    """Causal attention without positions."""

    def forward(self, x: Tensor, sights: Sequence[Sight]) -> Tensor:  # noqa: ARG002 - it sees all before
        """Return what each token reads."""
        q, k, v = self.vectors(x)
        y = scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.onward(y.transpose(1, 2).flatten(2))


def measure(rounds: int = 7) -> list[str]:
    """Measure both settings, and return the lines of the result."""
    lines = [f"{_STEPS} steps a turn, {rounds} rounds: median (quartiles)."]
    for setting in SETTINGS.values():
        print(f"lab: {setting.name} …", flush=True)
        times = take_turns(setting, rounds)
        lines += ["", *_table(setting, times), "", *_verdicts(times)]
    return lines


def take_turns(setting: Setting, rounds: int) -> Times:
    """Seconds of a turn by what is trained."""
    chance = torch.Generator().manual_seed(0)
    noise = torch.randint(256, (1 << 20,), generator=chance, dtype=torch.uint8)
    corpus = Corpus("noise", noise, noise[:0])
    known = contenders(setting)
    runs = {name: Run(setting, encoding, 0, corpus) for name, encoding in known.items()}
    for name in (BARE, CONTROL):
        runs[name] = Run(setting, known["nope"], 0, corpus)
        for block in runs[name].model.blocks:
            block.attention = Bare(setting.width, known["nope"], 0.0)

    def learn(run: Run) -> None:
        run.losses.clear()  # so that the learning rate stays where it begins
        for _ in range(_STEPS):
            run.learn()

    return turns({name: lambda run=run: learn(run) for name, run in runs.items()}, rounds, WARM_UP)


def _table(setting: Setting, times: Times) -> list[str]:
    """The lines of a table, a row for each model."""
    tokens = _STEPS * setting.batch * setting.length
    rows = [
        (name, spread([tokens / t for t in series], ",.0f"), spread(_over(times, BARE, name)))
        for name, series in times.items()
        if name != BARE
    ]
    bare = (BARE, spread([tokens / t for t in times[BARE]], ",.0f"), "1")
    return table((f"{setting.name}, L = {setting.length}", "tokens/s", "/ bare"), (bare, *rows))


def _verdicts(times: Times) -> list[str]:
    """Whether the goal is reached, and what XPos costs beside RoPE."""
    shares = [(name, quartiles(_over(times, BARE, name))[1]) for name in _OURS]
    longer = 100 * (quartiles(_over(times, "xpos_half", "rope"))[1] - 1)
    return [
        *(
            f"- {name}: {share:.2f} × the bare model's tokens a second, goal {GOAL:g}: "
            f"{verdict(share >= GOAL)}."
            for name, share in shares
        ),
        f"- XPos takes {longer:+.1f} % of RoPE's time (Sun et al. 2022: about 6 % more).",
    ]


def _over(times: Times, one: str, other: str) -> list[float]:
    """The time of one over that of another, round by round."""
    return [a / b for a, b in zip(times[one], times[other], strict=True)]
