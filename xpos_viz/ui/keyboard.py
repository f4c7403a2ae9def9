"""A slider for the keyboard below a picture that moves: Plotly's own takes a pointer alone.

It is seen while it has the focus, and moves the picture as Plotly's slider does.
"""

from streamlit.components.v2 import component

_HTML = '<input type="range" min="0">'
_STYLE = """
input { width: 14rem; margin: 0; opacity: 0; pointer-events: none; }
input:focus { opacity: 1; accent-color: var(--st-primary-color); }
"""
_SCRIPT = """
const AT_ONCE = { mode: "immediate", frame: { duration: 0, redraw: false } };

export default function ({ data, parentElement }) {
  const input = parentElement.querySelector("input");
  const plot = () => document.querySelector(`.st-key-${data.picture} .js-plotly-plot`);
  const moved = () => plot()?._fullLayout?.sliders?.[0];

  const say = () =>
    input.setAttribute("aria-valuetext", moved()?.steps[input.value]?.label ?? "");

  input.setAttribute("aria-label", data.label);
  input.onfocus = () => {
    input.max = (moved()?.steps.length ?? 1) - 1;
    input.value = moved()?.active ?? 0;
    say();
  };
  input.oninput = () => {
    globalThis.Plotly?.animate(plot(), [input.value], AT_ONCE).catch(() => {}); // overtaken
    say();
  };
}
"""
_component = component("xpos_viz_keyboard", html=_HTML, css=_STYLE, js=_SCRIPT)


def slide(picture: str, label: str) -> None:
    """Draw the slider of a picture that moves, by the picture's name."""
    _component(key="keyboard", data={"picture": picture, "label": label})
