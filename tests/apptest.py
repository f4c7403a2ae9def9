"""Pages without a browser: how they are opened, moved and read, in any language."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from xpos_viz.texts import texts
from xpos_viz.ui import HOME

APP = Path(__file__).parent.parent / "app.py"
SHORT = {"name": "pronoun"}
MADE = {"source": "random", "length": "32", "head_dim": "8", "scale_base": "16"}


@cache
def components():
    """The components of all installed packages; each page would look for them anew."""
    manager = BidiComponentManager()
    manager.discover_and_register_components(start_file_watching=False)
    return manager


def fresh(address=None):
    """The page at an address, before it is run."""
    page = AppTest.from_file(str(APP), default_timeout=60)
    page._bidi_component_manager = components()
    page.query_params.update(address or {})
    return page


def opened(name, address=None, **context):
    """A page at an address, run once."""
    page = fresh(address)
    page._page_hash = "" if name == HOME else calc_hash(name)
    page.context.update(context)
    return again(page)


def again(moved):
    """The page, run without a mistake after something was moved."""
    page = moved.run()
    assert not page.exception
    return page


def address(page):
    """The parameters that the address now has."""
    return dict(page.query_params)


def control(page, key, language="en") -> Any:
    """A control beside the picture by the words beside it."""
    kinds = ("selectbox", "select_slider", "slider", "toggle", "number_input", "button_group")
    widgets = [widget for kind in kinds for widget in page.get(kind)] + list(page.button)
    label = texts(language)(f"ui.{key}")
    (found,) = [widget for widget in widgets if widget.proto.label == label]
    return found


def words(page):
    """All that the page says in sentences, as a reader sees signs that are escaped."""
    said = "\n".join(element.value for element in (*page.markdown, *page.caption, *page.warning))
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", said)


def alts(page):
    """The alternative texts of the pictures."""
    return [chart.proto.alt for chart in page.get("plotly_chart")]
