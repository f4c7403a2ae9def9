"""Files to take along: pictures and numbers, each with what it was made from."""

from xpos_viz.export.bundle import bundle
from xpos_viz.export.files import FORMS, make
from xpos_viz.export.recipe import Recipe
from xpos_viz.export.reproduction import Reproduction, reproduce

__all__ = ["FORMS", "Recipe", "Reproduction", "bundle", "make", "reproduce"]
