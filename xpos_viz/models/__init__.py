"""Queries and keys of a model on a text: needs the extra `xpos-viz[models]`, transformers."""

from xpos_viz.models.families import FAMILIES, TESTED
from xpos_viz.models.planning import Plan, capture, plan

__all__ = ["FAMILIES", "TESTED", "Plan", "capture", "plan"]
