"""Draws the pictures of the README: `python -m assets.pictures`."""

from pathlib import Path

from xpos_viz.comparison import compare
from xpos_viz.figures.compare import score_maps
from xpos_viz.figures.paper_pen import save
from xpos_viz.results import run
from xpos_viz.state import opening
from xpos_viz.texts import texts

if __name__ == "__main__":
    picture = save(score_maps(compare(run(opening())), texts("en")), "png")
    Path(__file__).with_name("compare.png").write_bytes(picture)
