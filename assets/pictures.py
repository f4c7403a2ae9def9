"""Draws the pictures of the README and of choosing.md: `python -m assets.pictures`."""

from pathlib import Path

import numpy as np

from xpos_viz import rope
from xpos_viz.choosing import Goal, Span, Spec
from xpos_viz.choosing.landscape import landscape
from xpos_viz.comparison import compare
from xpos_viz.curves import expectation_resolution
from xpos_viz.figures.compare import score_maps
from xpos_viz.figures.description import Curve, Curves
from xpos_viz.figures.paper_pen import save
from xpos_viz.results import run
from xpos_viz.state import opening
from xpos_viz.texts import texts

FOLDER = Path(__file__).parent
WIDTHS = (64, 128)
LENGTHS = (1024, 4096, 16_384, 65_536, 131_072)
GAMMAS = Span(0.05, 3.2, steps=25, log=True)
SCALE_BASES = Span(8.0, 2.0**18, steps=16, log=True)


def half_lives() -> Curves:
    """How long half-lives are, in units of B."""
    curves = []
    for width in WIDTHS:
        grid = (("gamma", GAMMAS), ("scale_base", 4096.0))
        table = landscape(Spec(parameters=grid, goals=(Goal("half_life"),), head_dim=width)).table
        rows = table.sort_values("gamma")
        half_lives = rows["half_life"].to_numpy() / 4096
        curves.append(Curve(f"d = {width}", rows["gamma"].to_numpy(), half_lives))
    return Curves(
        name="half_lives",
        alt="Half-life of the envelope in units of B over gamma.",
        title=("Half-life of the envelope", "XPos, B 4,096"),
        x="γ",
        y="half-life / B",
        logarithmic=True,
        curves=tuple(curves),
    )


def resolutions(width: int = 64) -> Curves:
    """How many times the resolution of RoPE that of XPos is."""
    grid = (("gamma", 0.4), ("scale_base", SCALE_BASES))
    spec = Spec(parameters=grid, goals=(Goal("resolution"),), head_dim=width, lengths=LENGTHS)
    table, curves = landscape(spec).table, []
    for length in LENGTHS:
        rows = table[table["length"] == length].sort_values("scale_base")
        plain = expectation_resolution(rope(width), tokens=length, normalisation="sqrt_d")
        times = rows["resolution"].to_numpy() / float(plain)
        curves.append(Curve(f"L = {length:,}", rows["scale_base"].to_numpy(), np.asarray(times)))
    return Curves(
        name="resolutions",
        alt="Resolution of XPos over that of RoPE, over B, for five lengths.",
        title=("Resolution R(g/√d) of XPos over that of RoPE", f"γ 0.4, base 10,000, d = {width}"),
        x="B (tokens)",
        y="R of XPos / R of RoPE",
        logarithmic=True,
        logarithmic_y=True,
        curves=tuple(curves),
    )


if __name__ == "__main__":
    shown = score_maps(compare(run(opening())), texts("en"))
    (FOLDER / "compare.png").write_bytes(save(shown, "png"))
    for each in (half_lives(), resolutions()):
        (FOLDER / f"{each.name}.png").write_bytes(save(each, "png"))
