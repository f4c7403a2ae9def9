"""A button that copies a link: Streamlit's own is seen by a pointer alone, and is English."""

from streamlit.components.v2 import component

from xpos_viz.texts import Text

_HTML = '<button type="button"></button> <span role="status"></span>'
_STYLE = """
:host { font: .875rem var(--st-font); color: var(--st-text-color); }
button {
  padding: .5rem .75rem;
  font: inherit;
  color: inherit;
  background: var(--st-background-color);
  border: 1px solid var(--st-border-color);
  border-radius: var(--st-button-radius);
  cursor: pointer;
}
button:hover { color: var(--st-primary-color); border-color: currentcolor; }
button:focus-visible { outline: 3px solid var(--st-primary-color); outline-offset: 1px; }
span { margin-left: .5rem; }
"""
_SCRIPT = """
export default function ({ data, parentElement }) {
  const [button, said] = ["button", "span"].map((name) => parentElement.querySelector(name));
  button.textContent = data.label;
  said.textContent = "";
  button.onclick = async () => {
    await (navigator.clipboard?.writeText(data.link) ?? copied(data.link));
    said.textContent = data.done;
  };
}

/** Where the address is neither https nor of this machine, browsers have no clipboard to write. */
function copied(words) {
  const put = (event) => {
    event.clipboardData.setData("text/plain", words);
    event.preventDefault();
  };
  document.addEventListener("copy", put, { once: true });
  document.execCommand("copy");
}
"""
_component = component("xpos_viz_copying", html=_HTML, css=_STYLE, js=_SCRIPT)


def offer(link: str, text: Text) -> None:
    """Draw the button."""
    data = {"link": link, "label": text("ui.copy_link"), "done": text("ui.copied")}
    _component(key="copying", data=data)
