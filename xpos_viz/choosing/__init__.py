"""Choosing an encoding's parameters by evidence: sweeps, searches, and what is best of them.

Say what matters (:class:`Goal`), what varies (:class:`Spec`), and see all of it (:func:`sweep`),
look for the best of it (:func:`search`), or go there along the gradient (:func:`descend`);
:func:`ranked` and :func:`best` say what was found. Search and cluster need packages that are
imported when they are used.

Examples
--------
>>> from tempfile import TemporaryDirectory
>>> from concurrent.futures import ThreadPoolExecutor
>>> spec = Spec(
...     parameters=(("scale_base", Span(64.0, 4096.0, steps=7, log=True)),),
...     goals=(Goal("half_life", wanted=800.0),),
... )
>>> with TemporaryDirectory() as folder, ThreadPoolExecutor(1) as threads:
...     progress = sweep(spec, folder, threads)
...     best(points_of(folder), spec)[["scale_base", "half_life"]].round(1)
   scale_base  half_life
0       512.0      831.7
"""

from xpos_viz.choosing.engine import Progress, sweep
from xpos_viz.choosing.front import best, ranked
from xpos_viz.choosing.goals import Goal
from xpos_viz.choosing.gradient import Descent, descend
from xpos_viz.choosing.objectives import OBJECTIVES, Objective
from xpos_viz.choosing.processes import Processes
from xpos_viz.choosing.ranges import Span
from xpos_viz.choosing.records import Batch, frame, points_of, spec_of
from xpos_viz.choosing.search import SAMPLERS, search
from xpos_viz.choosing.spec import Spec, Text
from xpos_viz.choosing.specfile import read_spec
from xpos_viz.choosing.working import SweepError

__all__ = [
    "OBJECTIVES",
    "SAMPLERS",
    "Batch",
    "Descent",
    "Goal",
    "Objective",
    "Processes",
    "Progress",
    "Span",
    "Spec",
    "SweepError",
    "Text",
    "best",
    "descend",
    "frame",
    "points_of",
    "ranked",
    "read_spec",
    "search",
    "spec_of",
    "sweep",
]
