"""A page that is one file: it holds all that it needs, and asks no host for anything."""

import html
import json
from collections.abc import Iterable

from xpos_viz.texts import LANGUAGES, TAGS, Text, texts

RECIPE = "xpos_viz"
"""The id of the element that says what the page was made from."""

_ALLOWED = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:"
)
_STYLE = """
:root { font: 16px/1.5 "Source Sans", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei",
  sans-serif; }
body { margin: 0 auto; max-width: 70rem; padding: 1rem clamp(0.75rem, 3vw, 2rem) 3rem; }
h1 { font-size: 1.6rem; line-height: 1.2; } h2 { font-size: 1.2rem; margin-top: 2rem; }
:focus-visible { outline: 2px solid #2a83b4; outline-offset: 2px; }
a { color: inherit; overflow-wrap: anywhere; }
"""


def document(
    title: str, body: Iterable[str], text: Text, *, style: str = "", recipe: str = ""
) -> str:
    """Return the text of a page.

    Parameters
    ----------
    title
        Plain text.
    body
        Parts of it, as HTML.
    text
        Sentences of the language of the page.
    style
        More CSS.
    recipe
        JSON that says what the page was made from.

    Raises
    ------
    ValueError
        If `recipe` is no JSON.
    """
    language = next(code for code in LANGUAGES if texts(code) is text)
    made = [data(RECIPE, checked(recipe))] if recipe else []
    head = [
        "<!doctype html>",
        f'<html lang="{TAGS[language]}">',
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_ALLOWED}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',
        f"<title>{html.escape(title)}</title>",
        f"<style>{_STYLE}{style}</style>",
    ]
    return "\n".join([*head, "<body>", *made, "<main>", *body, "</main>", "</body>", "</html>", ""])


def data(name: str, content: str) -> str:
    r"""Return JSON as an element that scripts find by its name, and that no markup in it ends.

    Examples
    --------
    >>> print(data("a", '"</script>"'))
    <script type="application/json" id="a">"\u003c/script>"</script>
    """
    return f'<script type="application/json" id="{name}">{_quoted(content)}</script>'


def script(source: str, kind: str = "module") -> str:
    """Return JavaScript as an element."""
    return f'<script type="{kind}">\n{source}\n</script>'


def _quoted(content: str) -> str:
    """JSON without a sign that could begin markup."""
    return content.replace("<", r"\u003c")


def checked(recipe: str) -> str:
    """Return a recipe, or raise ValueError if it is no JSON."""
    try:
        json.loads(recipe)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"recipe must be JSON, got {recipe!r:.60}; use json.dumps.") from error
    return recipe
