r"""Along the gradient: parameters by automatic differentiation through the core.

A family of the registry is a function from its parameters to rates, and takes tensors as it
takes numbers; all that is computed from rates then has a gradient. Each parameter moves freely
as the logit of its share of the span, :math:`u = \ln\frac{s}{1 - s}`, so it stays between the
ends, and for a span of equal factors the share is that of its logarithm. The steps are those of
L-BFGS (Liu and Nocedal 1989) in float64.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from xpos_viz.choosing.ranges import Span
from xpos_viz.choosing.spec import Spec, experiment
from xpos_viz.encoding import PARAMETERS, Encoding, Terms
from xpos_viz.entry import check_whole

_CLOSE = 1e-9  # nearest share to an end at which a start may be: beyond it nothing moves


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a descent has ended, and how it came there.

    Parameters
    ----------
    encoding
        The encoding at the end.
    values
        What the goals are there, by label.
    loss
        Their weighted sum.
    path
        A row for each time that the loss was computed: the parameters, and loss.
    """

    encoding: Encoding
    values: Mapping[str, float]
    loss: float
    path: pd.DataFrame


def descend(spec: Spec, *, start: Mapping[str, float] | None = None, steps: int = 50) -> Descent:
    """Follow the gradient of the weighted sum of goals to where it ends.

    Where there are several lengths or heads, a value is the mean over them.

    Parameters
    ----------
    spec
        Its spans are moved; each other parameter must have one value. Limits do not count.
    start
        Where the parameters start; what is left out starts in the middle of its span.
    steps
        Most steps.

    Returns
    -------
    Descent
        The best that was found on the way. It may be a minimum of its surroundings only.

    Raises
    ------
    ValueError
        If nothing can move, a goal has a limit or no gradient, or the start has no number.

    Examples
    --------
    >>> from xpos_viz.choosing import Goal, Span, Spec
    >>> spec = Spec(
    ...     parameters=(("scale_base", Span(64.0, 4096.0, log=True)),),
    ...     goals=(Goal("half_life", wanted=800.0),),
    ... )
    >>> found = descend(spec)
    >>> round(found.values["half_life"], 3), round(found.encoding["scale_base"], 1)
    (800.0, 492.5)
    """
    check_whole("steps", steps, 1)
    _check(spec)
    free = torch.tensor(
        [_logit(span, (start or {}).get(name)) for name, span in spec.spans.items()],
        dtype=torch.float64,
        requires_grad=True,
    )
    path = list[dict[str, float]]()
    optimiser = torch.optim.LBFGS([free], max_iter=steps, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimiser.zero_grad()
        moved = _moved(spec, free)
        loss = _loss(spec, moved)
        path.append({**{name: each.item() for name, each in moved.items()}, "loss": loss.item()})
        loss.backward()
        return loss

    optimiser.step(closure)
    table = pd.DataFrame(path)
    if not table["loss"].notna().any():
        raise ValueError(
            f"the goals have no number where it starts, got {path[0]}; use another start."
        )
    best = table.iloc[int(np.nanargmin(table["loss"]))]
    encoding = spec.encoding_of(
        {**_fixed(spec), **{name: float(best[name]) for name in spec.spans}}
    )
    return Descent(encoding, _values(spec, encoding), float(best["loss"]), table)


class _Traced(Encoding):
    """An encoding some of whose parameters are tensors, so that its rates have a gradient."""

    moved: Mapping[str, Tensor]

    @property
    def terms(self) -> Terms:
        """The terms, with the tensors in the place of their values."""
        return self.family.terms(**(dict(self.parameters) | dict(self.moved)))


def _traced(encoding: Encoding, moved: Mapping[str, Tensor]) -> Encoding:
    """The same encoding, with a gradient."""
    traced = _Traced(encoding.name, encoding.parameters)
    object.__setattr__(traced, "moved", moved)
    return traced


def _check(spec: Spec) -> None:
    """Raise ValueError unless there is something to follow."""
    if not spec.spans:
        raise ValueError(
            "a descent needs a parameter that can move, got none; "
            "use a span, such as { from = 0.1, to = 1 }."
        )
    for name, values in spec.parameters:
        if isinstance(values, tuple) or (name in spec.spans and PARAMETERS[name].whole):
            raise ValueError(f"{name} cannot move bit by bit; use one number, or search.")
    for goal in spec.goals:
        if goal.limited:
            raise ValueError(f"a descent knows no limits, got one for {goal.label}; use search.")


def _logit(span: Span, value: float | None) -> float:
    """Where a parameter starts, as it is moved."""
    share = 0.5 if value is None else span.share(value)
    if not 0 <= share <= 1:
        raise ValueError(
            f"a start must lie within its span, got {value!r}; use {span.low:g} to {span.high:g}."
        )
    return float(torch.logit(torch.tensor(share, dtype=torch.float64), eps=_CLOSE))


def _moved(spec: Spec, free: Tensor) -> dict[str, Tensor]:
    """The parameters that move, as tensors with a gradient."""
    shares = free.sigmoid()
    return {
        name: span.at(share) for (name, span), share in zip(spec.spans.items(), shares, strict=True)
    }


def _fixed(spec: Spec) -> dict[str, float]:
    """The parameters that do not move."""
    return {name: each for name, each in spec.parameters if isinstance(each, int | float)}


def _loss(spec: Spec, moved: Mapping[str, Tensor]) -> Tensor:
    """The weighted sum of the goals, with a gradient."""
    values = {name: each.item() for name, each in moved.items()}
    traced = _traced(spec.encoding_of({**_fixed(spec), **values}), moved)
    total = torch.zeros((), dtype=torch.float64)
    for label, value in _numbers(spec, traced).items():
        if not value.requires_grad:
            raise ValueError(f"{label} has no gradient here, got {value.item():g}; use search.")
        goal = next(goal for goal in spec.goals if goal.label == label)
        total = total + goal.weight * goal.loss(value)
    return total


def _values(spec: Spec, encoding: Encoding) -> dict[str, float]:
    """What the goals are of an encoding."""
    return {label: value.item() for label, value in _numbers(spec, encoding).items()}


def _numbers(spec: Spec, encoding: Encoding) -> dict[str, Tensor]:
    """The mean of each goal over its cases."""
    found: dict[str, list[Tensor]] = {goal.label: [] for goal in spec.goals}
    for case in spec.cases:
        tried = experiment(encoding, case)
        for goal in spec.goals:
            if goal.row.reads(case):
                value = goal.row.measure(tried, **dict(goal.options))
                found[goal.label].append(torch.as_tensor(value, dtype=torch.float64))
    return {label: torch.stack(values).mean() for label, values in found.items()}
