"""How wide the picture may be: a component that draws nothing and reports its width."""

from streamlit.components.v2 import component

USUAL_WIDTH = 960
"""Pixels assumed until the browser has answered."""

NARROW = 640
"""Pixels below which panels stand one above the other."""

_SCRIPT = """
const STEP = 80;

export default function ({ parentElement, setStateValue }) {
  const host = parentElement.host ?? parentElement;
  let sent = null;
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

_viewport = component("xpos_viz_viewport", html="<div></div>", js=_SCRIPT)


def picture_width() -> int:
    """Return the width of the current column in the browser, pixels, in steps of 80."""
    answer = _viewport(
        key="viewport", default={"width": USUAL_WIDTH}, on_width_change=lambda: None, height=1
    )
    width = answer.width
    return width if isinstance(width, int) and 160 <= width <= 8000 else USUAL_WIDTH
