"""How it learns: the next byte, from random places of the corpus, the same for every encoding.

A run can be stopped at any moment and goes on from the last state that it wrote.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch
from jaxtyping import Int, UInt8
from torch import Tensor
from torch.nn.functional import cross_entropy

from xpos_viz.encoding import Encoding
from xpos_viz.lab.corpus import Corpus
from xpos_viz.lab.model import BYTES, Setting, Transformer
from xpos_viz.lab.store import MOMENTS, Recipe, State, about, made_with
from xpos_viz.writing import write

WARM = 0.05
"""Share of the steps in which the learning rate rises."""

_EVERY = 50  # steps between two states that are written

Report = Callable[["Run"], None]
"""Told after each step; what it raises stops the run."""


@dataclass
class Run:
    """A model that is being trained, or that has been.

    Parameters
    ----------
    setting, encoding, seed
        What is trained.
    corpus
        What it reads.
    losses
        Bits per byte of each step so far.
    """

    setting: Setting
    encoding: Encoding
    seed: int
    corpus: Corpus
    losses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.corpus.check(self.setting.length + 1, 0)
        self.model = Transformer(self.setting, self.encoding, seed=self.seed)
        self.optimiser = torch.optim.AdamW(
            self.model.parameters(), lr=self.setting.rate, betas=(0.9, 0.95), weight_decay=0.1
        )

    @property
    def step(self) -> int:
        """How many steps are done."""
        return len(self.losses)

    @property
    def done(self) -> bool:
        """Whether all steps are."""
        return self.step >= self.setting.steps

    @property
    def recipe(self) -> Recipe:
        """What this run is made from."""
        return Recipe(self.setting, self.encoding, self.seed, self.corpus.hash)

    def learn(self) -> None:
        """Do one step."""
        for group in self.optimiser.param_groups:
            group["lr"] = self.setting.rate * _pace(self.step / self.setting.steps)
        texts = batch(self.corpus.train, self.setting, self.seed, self.step)
        logits = self.model(texts[:, :-1])
        loss = cross_entropy(logits.reshape(-1, BYTES), texts[:, 1:].reshape(-1))
        self.optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()
        self.losses.append(loss.item() / math.log(2))

    def state(self) -> State:
        """Return all that the run needs to go on; of one that is done, its model."""
        tensors = {f"model.{name}": weight for name, weight in self.model.state_dict().items()}
        for name, weight in self.model.named_parameters():
            kept = {} if self.done else self.optimiser.state.get(weight, {})
            tensors |= {f"{moment}.{name}": kept[moment] for moment in MOMENTS if kept}
        tensors["losses"] = torch.tensor(self.losses, dtype=torch.float64)
        return State(self.recipe, about(self.corpus), tensors)

    def restore(self, path: Path) -> None:
        """Go on from a state that was written.

        Raises
        ------
        ValueError
            If it is that of another run, or none, or was begun with other versions or threads,
            whose sums are rounded otherwise.
        """
        state = State.read(path)
        if state.recipe != self.recipe:
            raise ValueError(
                f"{path} must be a state of this run, got one of another; use another folder."
            )
        begun, now = map(made_with, (state.about, about(self.corpus)))
        if not state.done and begun != now:
            raise ValueError(
                f"{path} was begun with {begun}, got {now}; use those, or another folder."
            )
        self.losses = state.losses
        self.model.load_state_dict(state.part("model."))
        moments = {moment: state.part(f"{moment}.") for moment in MOMENTS}
        for name, weight in self.model.named_parameters():
            kept = {moment: moments[moment][name] for moment in MOMENTS if moments[moment]}
            if kept:
                self.optimiser.state[weight] = {"step": torch.tensor(float(self.step)), **kept}


def train(run: Run, report: Report = lambda _: None, path: Path | None = None) -> Transformer:
    """Do the steps that a run lacks, and return its model.

    Parameters
    ----------
    run
        What is trained.
    report
        Told after each step; what it raises stops the run.
    path
        Where its state is written now and then, and where it goes on from if one is there.

    Returns
    -------
    Transformer
        The trained model.

    Raises
    ------
    ValueError
        If the state at `path` is that of another run.

    Examples
    --------
    >>> import torch
    >>> from xpos_viz import rope
    >>> line = torch.tensor([*b"one line of text, " * 20], dtype=torch.uint8)
    >>> setting = Setting("tiny", length=16, layers=1, width=32, batch=8, steps=40, rate=1e-2)
    >>> run = Run(setting, rope(32), 0, Corpus("a line", line, line[:0]))
    >>> model = train(run)
    >>> run.losses[0] > 7.5, run.losses[-1] < 4
    (True, True)
    """
    if path and path.exists():
        run.restore(path)
    while not run.done:
        run.learn()
        report(run)
        if path and (run.done or run.step % _EVERY == 0):
            write(path, run.state().content())
    return run.model.eval()


def batch(
    content: UInt8[Tensor, " bytes"], setting: Setting, seed: int, step: int
) -> Int[Tensor, "texts tokens"]:
    """Return the texts of one step, (batch, L + 1): the same for every encoding."""
    chance = torch.Generator().manual_seed(seed * 1_000_003 + step)
    room = len(content) - setting.length
    starts = torch.randint(room, (setting.batch, 1), generator=chance)
    return content[starts + torch.arange(setting.length + 1)].long()


def _pace(share: float) -> float:
    """The learning rate at a share of the steps: it rises, then falls as a cosine to a tenth."""
    if share < WARM:
        return (share + 1e-3) / (WARM + 1e-3)
    return 0.1 + 0.45 * (1 + math.cos(math.pi * (share - WARM) / (1 - WARM)))
