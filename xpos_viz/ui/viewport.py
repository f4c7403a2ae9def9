"""How wide the picture may be: a component that draws nothing and reports its width."""

import streamlit as st
from streamlit.components.v2 import component

from xpos_viz.ui.session import commit

USUAL_WIDTH = 880
"""Pixels assumed until the browser answers that it has another width, as at 1440 pixels."""

NARROW = 640
"""Pixels below which panels stand one above the other."""

_SCRIPT = """
const STEP = 80;

export default function ({ data, parentElement, setStateValue }) {
  const host = parentElement.host ?? parentElement;
  let sent = data.width;
  const measure = () => {
    const width = Math.floor(host.getBoundingClientRect().width / STEP) * STEP;
    if (width > 0 && width !== sent) {
      sent = width;
      setStateValue("width", width);
    }
  };
  const observer = new ResizeObserver(measure);
  observer.observe(host);
  measure();
  return () => observer.disconnect();
}
"""

_KNOWN = "width"
_viewport = component("xpos_viz_viewport", html="<div></div>", js=_SCRIPT)


def picture_width() -> int:
    """Return the width of the current column in the browser, pixels, in steps of 80."""
    known = st.session_state.get(_KNOWN, USUAL_WIDTH)
    answer = _viewport(
        key="viewport",
        data={"width": known},
        default={"width": known},
        on_width_change=lambda: commit(lambda state: state, "viewport"),
        height=1,
    ).width
    width = answer if isinstance(answer, int) and 160 <= answer <= 8000 else USUAL_WIDTH
    st.session_state[_KNOWN] = width
    return width
