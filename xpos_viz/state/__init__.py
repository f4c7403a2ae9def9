"""What is set: one immutable value behind all pages, files and commands, and its address."""

from xpos_viz.state.address import Refusal, from_address, recorded, to_address
from xpos_viz.state.model import CONTROLS, OWN, SETTINGS, State, opening
from xpos_viz.state.presets import PRESETS

__all__ = [
    "CONTROLS",
    "OWN",
    "PRESETS",
    "SETTINGS",
    "Refusal",
    "State",
    "from_address",
    "opening",
    "recorded",
    "to_address",
]
