"""The extrapolation lab: small models, trained here, that read beyond what they have seen.

Read it in this order: what is read (:mod:`.corpus`), what reads (:mod:`.model`), how it learns
(:mod:`.training`) and is kept (:mod:`.store`), and what it loses far beyond its training length
(:mod:`.evaluation`, and :mod:`.results` as one table).
"""

from xpos_viz.lab.corpus import Corpus, folder, standard_library, text_file
from xpos_viz.lab.evaluation import paired_excess, reading, windowed, windows
from xpos_viz.lab.model import SETTINGS, Setting, Transformer, contenders
from xpos_viz.lab.results import measured
from xpos_viz.lab.store import load
from xpos_viz.lab.training import Run, train

__all__ = [
    "SETTINGS",
    "Corpus",
    "Run",
    "Setting",
    "Transformer",
    "contenders",
    "folder",
    "load",
    "measured",
    "paired_excess",
    "reading",
    "standard_library",
    "text_file",
    "train",
    "windowed",
    "windows",
]
