"""How pages are laid out: what stands where, on wide and narrow screens and with large type."""

import json
import math
from collections.abc import Mapping
from string import Template

from xpos_viz.encoding import REGISTRY
from xpos_viz.figures.plotly_pen import Fit
from xpos_viz.state.model import MAX_KEPT_CURVES
from xpos_viz.theme import INKS, WORDS, Mode

LARGE = 1.375
"""Large type, times the usual."""

_ALWAYS = """
.stMainBlockContainer { padding-top: 4.25rem; padding-bottom: 3rem; max-width: 100rem; }
.stMain { text-wrap: pretty; }
.stHorizontalBlock { row-gap: 1rem; }
.stHeading h2 { font-size: 1.5rem; }
/* Chinese breaks between any two letters: titles only where a reader pauses */
.st-key-links a { scroll-margin-inline: 3rem; }
.stHeading { text-wrap: balance; overflow-wrap: break-word; }
:is(.stHeading, .stTable.stTable th) * { word-break: keep-all; }
.stTable.stTable th * { overflow-wrap: normal; }
/* and has no letters that lean */
:lang(zh) em { font-style: normal; font-weight: 600; }
/* a formula that is too wide goes on in the next line */
.stMarkdown .katex-display { overflow: visible; }
.stMarkdown .katex-display > .katex { white-space: normal; }
@media (max-width: 75rem) { .stMainBlockContainer { padding-inline: clamp(1rem, 3vw, 2rem); } }
/* the links to all pages are one row, which moves sideways where it is too long */
.st-key-way { flex-wrap: nowrap; justify-content: space-between; }
.st-key-way > :first-child { flex: 0 1 auto; min-width: 0; }
.st-key-way > :last-child { flex: 1 0 max-content; width: auto; }
.st-key-tools { flex-wrap: nowrap; }
.st-key-tools > :last-child { margin-left: auto; }
.st-key-tools .stButtonGroup button { min-height: 2.5rem; }
.st-key-links { flex-wrap: nowrap; overflow-x: auto; margin: -.25rem; }
.st-key-links { padding: .25rem 1.25rem .25rem .25rem; }
.st-key-links > * { flex: none; }
/* what goes on beyond the edge pales there */
.st-key-links { mask-image: linear-gradient(to left, #0000, #000 1.25rem); }
@media (max-width: 75rem) { .st-key-way, .st-key-links, .st-key-tools { gap: .25rem; } }
/* that a preset leads to this page does not make it the one that is set */
[class*="st-key-other_"] a:not(:hover, :focus-visible) { background: none; }
[class*="st-key-other_"] a * { font-weight: inherit; }
/* what a preset is stands under its name */
:is([class*="st-key-other_"], [class*="st-key-chosen_"]) [data-testid="stCaptionContainer"] {
  padding-inline: .5rem;
}
/* where the keys are is seen, on the link of this page, too */
.stPageLink a:focus-visible, .xv-legend > li:focus-visible { outline: 2px solid currentcolor; }
/* controls stand beside the picture, and lists show their whole words */
@media (min-width: 56.01rem) {
  .stHorizontalBlock:not(.stColumn .stHorizontalBlock) { flex-wrap: nowrap; }
  .st-key-live .stColumn:last-child { min-width: 17rem; }
  [class*="st-key-sides_"] .stColumn:last-child:not(.stColumn .stColumn) { min-width: 17rem; }
}
/* the table of pairs has all of its columns in sight */
.st-key-sides_pairs .stColumn .stColumn { min-width: min(100%, 25rem); }
[class*="st-key-step_"] { scroll-margin-top: 4rem; }
:has(> [class*="st-key-script_"]) { position: absolute; }
.stElementContainer.st-key-keyboard { height: 0; margin-top: -1rem; z-index: 1; }
@media (min-width: 40rem) { .st-key-formula .katex { font-size: 1.6rem; } }
/* pictures have the width there is, and a height that goes with it */
[class*="st-key-wide_"], [class*="st-key-fit_"] { container-type: inline-size; }
:is([class*="st-key-wide_"], [class*="st-key-fit_"]) .stPlotlyChart {
  height: calc(var(--height) + var(--slope) * (var(--width) - var(--narrowest)));
}
[class*="st-key-fit_"] > * { --least: var(--narrowest); --edge: 0px; }
[class*="st-key-wide_"] > * { --least: 0px; --edge: 0px; }
[class*="st-key-wide_"] > .stElementContainer { width: var(--width); max-width: none; }
:is([class*="st-key-wide_"], [class*="st-key-fit_"]) :is(.stPrintGraphic, .stFullScreenFrame) {
  height: auto;
  overflow: visible;
}
ul.xv-legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; margin: 0; }
.xv-legend > li { display: flex; gap: .25rem; margin: 0; padding: 0; font-size: .8125rem; }
.xv-legend span { flex: none; }
.xv-line { width: 30px; height: 2px; margin-top: .7em; }
.xv-block { width: .75rem; height: .75rem; margin-top: .3em; }
/* what is taken, and how much of it, stands below */
.st-key-own [data-testid="stFileUploaderDropzoneInstructions"] { display: none; }
/* tables of words and numbers fit, or move sideways */
.stTable { overflow-x: auto; }
"""
_CODE = """
/* words of code have the contrast of other words, which not all of Streamlit's have */
.stCode.stCode .token { color: inherit; }
.stCode.stCode .token:is(.keyword, .function, .class-name, .boolean) { color: $name; }
.stCode.stCode .token:is(.string, .triple-quoted-string) { color: $string; }
.stCode.stCode .token:is(.number, .operator, .decorator) { color: $number; }
.stCode.stCode .token:is(.comment, .punctuation) { color: $quiet; }
"""
_LIT = "\n".join(
    f'[class*="st-key-fit_"]:has(.xv-at-{place}:is(:hover, :focus)) '
    f":is(.scatterlayer, .barlayer) > .trace:not(:nth-child({place + 1})) "
    "{ opacity: .1 !important; }"
    for place in range(2 * (len(REGISTRY) + MAX_KEPT_CURVES))  # lines, after their bands
)
"""A name in the legend that is pointed at, or has the focus, pales all that it does not name."""

_SLIM = """
/* the picture is near the top: the way stands beside the menu, and titles are small */
.stMainBlockContainer { padding-top: .75rem; }
.stAppHeader { background: none; }
.stAppHeader, .stAppHeader * { pointer-events: none; }
.stAppHeader button { pointer-events: auto; }
.st-key-way { padding-right: 1.75rem; }
.stHeading h1 { font-size: 1.5rem; padding-block: 0 .5rem; }
.stHeading h2 { font-size: 1.25rem; }
"""
_NARROW = """
.stColumn:not(.stColumn .stColumn) { min-width: calc(100% - 1.5rem); }
.st-key-way { flex-wrap: wrap; row-gap: .75rem; padding-right: 0; }
.st-key-way > :first-child { flex-basis: calc(100% - 1.75rem); }
.st-key-way > :last-child { flex: 1 1 100%; }
.st-key-tools { flex-wrap: wrap; }
/* of a choice in more than one row, what begins a row has a line on its left, too */
.st-key-at [data-selected] + [role="radio"] { border-left-color: $line !important; }
/* controls stay at the foot of the screen while their picture is seen, and move by themselves */
[class*="st-key-sides_"] > * > .stHorizontalBlock > .stColumn:last-child {
  position: sticky;
  bottom: 0;
  z-index: 2;
  max-height: 38svh;
  margin-inline: -1rem;
  padding: .75rem 1rem;
  overflow-y: auto;
  overscroll-behavior: contain;
  background: $page;
  border-top: 1px solid $line;
}
[class*="st-key-sides_"] > * > .stHorizontalBlock > .stColumn:last-child > .stVerticalBlock {
  display: grid;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 15rem), 1fr));
}
/* what has the focus is not behind them */
[class*="st-key-sides_"] .stColumn:first-child :is(a, button, input, summary, [tabindex]) {
  scroll-margin-block: 4rem 42svh;
}
[class*="st-key-wide_"] {
  overflow-x: auto;
  mask-image: linear-gradient(to left, #0000, #000 1.25rem);
}
[class*="st-key-wide_"] > * { --least: var(--narrowest); --edge: 1.25rem; }
[class*="st-key-wide_"] > .stElementContainer {
  box-sizing: content-box;
  padding-right: var(--edge);
}
.stTable :is(td, th) { padding-inline: .25rem; }
.stTable.stTable th * { font-size: .8125rem; }
.stTable {
  background:
    linear-gradient(to left, $page 1rem, #0000) right / 3rem 100% no-repeat local,
    linear-gradient(to left, #8889, #0000) right / 1.25rem 100% no-repeat;
}
"""
_GROWN = """
.stMainBlockContainer { padding-inline: 2rem; }
.st-key-way, .st-key-links, .st-key-tools { gap: .25rem; }
.st-key-links .stPageLink a { padding-inline: .2rem; }
/* the live map has all of the width: what it is of is chosen below it */
.st-key-live > * > .stHorizontalBlock { flex-wrap: wrap !important; }
.st-key-live .stColumn { min-width: calc(100% - 1.5rem) !important; }
@media (max-width: 40rem) {
  .stMainBlockContainer { padding-inline: 1rem; }
  /* what is read is large: the way, the title and the controls leave room for the picture */
  .st-key-way { zoom: .7; }
  .stHeading h1 { font-size: 1.25rem; }
  [class*="st-key-sides_"] > * > .stHorizontalBlock > .stColumn:last-child { max-height: 32svh; }
}
"""


def following(key: str, height: float, fit: Fit) -> str:
    """Return the style by which a picture, drawn in its least width, has the height of its width.

    Parameters
    ----------
    key
        Of the container that it is in.
    height
        Its height in its least width, pixels.
    fit
        How it grows.
    """
    widest = f"{fit.widest:g}px" if math.isfinite(fit.widest) else "100cqw"
    sizes = {
        "height": f"{height:g}px",
        "narrowest": f"{fit.narrowest:g}px",
        "slope": f"{fit.slope:g}",
        "width": f"max(var(--least), min(100cqw - var(--edge), {widest}))",
    }
    rules = " ".join(f"--{name}: {size};" for name, size in sizes.items())
    return f"<style>.st-key-{key} > * {{ {rules} }}</style>"


def worded(words: Mapping[str, str]) -> str:
    """Return the style by which Streamlit's own words, which are English, are those of a language.

    Parameters
    ----------
    words
        What is to be read, by the selector of the element that says it in English.
    """
    rules = " ".join(
        f"{place} {{ font-size: 0; }} "
        f"{place}::after {{ content: {json.dumps(said, ensure_ascii=False)}; font-size: .875rem; }}"
        for place, said in words.items()
    )
    return f"<style>{rules}</style>"


def style(mode: Mode, *, large: bool) -> str:
    """Return the style sheet of all pages, as markup."""
    narrow = Template(_NARROW).substitute(page=INKS[mode].page, line=INKS[mode].faint)
    name, number, string, *_ = WORDS[mode]
    code = Template(_CODE).substitute(
        name=name, number=number, string=string, quiet=INKS[mode].faint
    )
    rules = f"{_ALWAYS} {code} {_LIT} @media (max-width: 56rem) {{ {_SLIM} {narrow} }}"
    if large:
        rules += f"html {{ font-size: {16 * LARGE:g}px !important; }} {_SLIM} {_GROWN}"
    return f"<style>{rules}</style>"
