"""The lessons on paper: one page with all chapters, to be printed, without scripts or network."""

import html
from base64 import b64encode
from collections.abc import Iterator

from latex2mathml.converter import convert
from markdown_it import MarkdownIt

from xpos_viz.export.page import document
from xpos_viz.figures.lessons import cited, coloured, printed, sentence, step_figure
from xpos_viz.figures.paper_pen import save
from xpos_viz.lessons import CHAPTERS, OPTIONS, Chapter, Step
from xpos_viz.state import State
from xpos_viz.texts import Text
from xpos_viz.theme import INKS

_MARKDOWN = MarkdownIt("js-default")  # no markup of its own


def lessons(state: State, text: Text, recipe: str = "") -> str:
    """Return a page with every step as it opens: question, picture, sentence, formula and code.

    Answers are at its end; a teacher's page (`state.teacher`) has each beside its question, and
    the notes.

    Parameters
    ----------
    state
        Of it, whether the page is a teacher's.
    text
        Sentences of one language.
    recipe
        JSON that says what the page was made from.

    Raises
    ------
    ValueError
        If `recipe` is no JSON.
    """
    teacher, title = state.teacher == "yes", text("pages.learn.title")
    body = [f"<h1>{_safe(title)}</h1>", _words(text("pages.learn.question"))]
    for number, chapter in enumerate(CHAPTERS, 1):
        body += _chapter(number, chapter, text, teacher=teacher)
    if not teacher:
        body += _answers(text)
    return document(title, body, text, style=_style(), recipe=recipe)


def _chapter(number: int, chapter: Chapter, text: Text, *, teacher: bool) -> Iterator[str]:
    """A chapter and its steps."""
    yield f"<h2>{number}. {_safe(text(f'learn.{chapter.name}.title'))}</h2>"
    yield _words(text(f"learn.{chapter.name}.words"))
    for place, step in enumerate(chapter.steps, 1):
        yield "<section>"
        yield from _step(f"{number}.{place}", step, text)
        if teacher:
            yield f"<aside><p>{_safe(text('learn.answer'))}: {_answer(step, text)}</p>"
            yield _words(text(f"learn.{step.name}.note")) + "</aside>"
        yield "</section>"


def _step(number: str, step: Step, text: Text) -> Iterator[str]:
    """A step as it opens."""
    at = step.control.start
    seen = step.see(at)
    figure = step_figure(step, seen, text)
    drawn = b64encode(save(figure, "svg")).decode()
    yield f"<h3>{number} {_safe(text(f'learn.{step.name}.title'))}</h3>"
    yield _words(text(f"learn.{step.name}.question"))
    options = (f"<li>{_inline(text(f'learn.{step.name}.{option}'))}</li>" for option in OPTIONS)
    yield f'<ol type="a">{"".join(options)}</ol>'
    yield f'<img alt="{_safe(figure.alt)}" src="data:image/svg+xml;base64,{drawn}">'
    yield _words(sentence("sentence", step, seen, text))
    yield convert(coloured(step.formula, "light"), display="block")
    yield _words(text(f"learn.{step.name}.symbols"))
    for source in cited(step, text):
        yield f'<p class="faint">{_safe(source)}</p>'
    yield f"<pre>{_safe(printed(step, at))}</pre>"


def _answers(text: Text) -> Iterator[str]:
    """All answers, on a page of their own."""
    yield f'<h2 class="answers">{_safe(text("learn.answers"))}</h2><dl>'
    for number, chapter in enumerate(CHAPTERS, 1):
        for place, step in enumerate(chapter.steps, 1):
            yield f"<dt>{number}.{place} {_safe(text(f'learn.{step.name}.title'))}</dt>"
            yield f"<dd>{_answer(step, text)}</dd>"
    yield "</dl>"


def _answer(step: Step, text: Text) -> str:
    """The right option, and why."""
    right = _inline(text(f"learn.{step.name}.{step.right}"))
    return f"({step.right}) <b>{right}</b> {_inline(text(f'learn.{step.name}.because'))}"


def _words(markdown: str) -> str:
    """Paragraphs of a text."""
    return _MARKDOWN.render(markdown)


def _inline(markdown: str) -> str:
    """A text inside of a paragraph."""
    return _MARKDOWN.renderInline(markdown)


def _safe(words: str) -> str:
    """Words as HTML, which is never markup."""
    return html.escape(words)


def _style() -> str:
    """Black on white, as paper is."""
    return _STYLE.replace("$faint", INKS["light"].faint).replace("$line", INKS["light"].grid)


_STYLE = """
:root { color-scheme: light; }
body { max-width: 46rem; }
h2 { border-top: 1px solid $line; padding-top: 1rem; } h3 { font-size: 1.05rem; }
img { width: 100%; max-width: 34rem; height: auto; display: block; margin: 0.5rem auto; }
math { font-size: 1.3rem; padding: 0.25rem 0; overflow-x: auto; }
mover:has(> mo[accent]) > :first-child { border-top: 1px solid; padding-top: 1px; }
mover > mo[accent] { display: none; }
pre { font-size: 0.8rem; white-space: pre-wrap; border: 1px solid $line; padding: 0.5rem; }
aside { border-left: 3px solid $faint; padding-left: 1rem; }
dt { font-weight: 600; } dd { margin: 0 0 0.5rem; }
.faint { color: $faint; font-size: 0.85rem; margin: 0.25rem 0; }
@page { margin: 1.5cm; }
@media print {
  body { padding: 0; max-width: none; font-size: 0.8rem; }
  h2, h3, dt { break-after: avoid; }
  math { font-size: 1rem; }
  section, p, img, math, pre, aside, ol, dd { break-inside: avoid; }
  .answers { break-before: page; }
}
"""
