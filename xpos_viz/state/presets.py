"""Settings worth a look, each a page and an address; its name and sentence are in the texts."""

from collections.abc import Mapping
from types import MappingProxyType

PRESETS: Mapping[str, tuple[str, Mapping[str, str]]] = MappingProxyType(
    {
        "paper": ("compare", {"source": "expectation", "length": "2048"}),
        "strong": ("compare", {"source": "expectation", "length": "1024", "scale_base": "32"}),
        "long": (
            "decay",
            {
                "source": "expectation",
                "base": "1000000",
                "scale_base": "65536",
                "distance": "1000000",
                "axis": "log",
            },
        ),
        "blocks": (
            "long",
            {
                "source": "expectation",
                "compare_masks": "yes",
                "window_size": "1024",
                "block_size": "1024",
            },
        ),
        "fp16": (
            "precision",
            {"source": "expectation", "scale_base": "128", "text_length": "2048"},
        ),
        "trained": ("lab", {"source": "expectation", "models": "rope,xpos_half"}),
        "evidence": (
            "choose",
            {
                "name": "harbour",
                "goal": "beyond",
                "second_goal": "disturbed",
                "second_limit": "0.1",
                "goal_window": "16",
            },
        ),
        "wild": ("compare", {"source": "expectation", "length": "64", "scale_base": "1"}),
    }
)
"""Page and settings by name; all else has its usual value."""
