"""How pages are laid out: what stands where, on wide and narrow screens and with large type."""

LARGE = 1.375
"""Large type, times the usual."""

_ALWAYS = """
.stMainBlockContainer { padding-top: 4.25rem; padding-bottom: 3rem; }
.stHorizontalBlock { row-gap: 1rem; }
.stHeading h2 { font-size: 1.5rem; }
@media (min-width: 40rem) { .stMarkdown .katex-display { overflow: visible; } }
@media (max-width: 75rem) { .stMainBlockContainer { padding-inline: clamp(1rem, 3vw, 2rem); } }
/* the way to all pages is one row, which moves sideways where it is too long */
.st-key-way { flex-wrap: nowrap; justify-content: space-between; }
.st-key-way > :first-child { flex: 0 1 auto; min-width: 0; }
.st-key-way > :last-child { flex: none; }
.st-key-links { flex-wrap: nowrap; overflow-x: auto; padding: .25rem; margin: -.25rem; }
.st-key-links > * { flex: none; }
@media (max-width: 75rem) { .st-key-way, .st-key-links { gap: .25rem; } }
/* that a preset leads to this page does not make it the one that is set */
[class*="st-key-other_"] a:not(:hover, :focus-visible) { background: none; }
[class*="st-key-other_"] a * { font-weight: inherit; }
/* controls stand beside the picture, and lists show their whole words */
[class*="st-key-sides_"] > * > .stHorizontalBlock { flex-direction: row-reverse; }
@media (min-width: 56.01rem) {
  .stHorizontalBlock:not(.stColumn .stHorizontalBlock) { flex-wrap: nowrap; }
  .st-key-live .stColumn:last-child { min-width: 17rem; }
  [class*="st-key-sides_"] .stColumn:first-child:not(.stColumn .stColumn) { min-width: 17rem; }
}
:has(> [class*="st-key-script_"]) { position: absolute; }
.stElementContainer.st-key-keyboard { height: 0; margin-top: -1rem; z-index: 1; }
/* symbols in colours are large enough to be told apart */
.st-key-formula .katex { font-size: 1.6rem; }
/* tables of words and numbers fit, or move sideways */
.stTable { overflow-x: auto; }
"""
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
/* controls stand above the picture, or below it where it has its own */
.stColumn:not(.stColumn .stColumn) { min-width: calc(100% - 1.5rem); }
[class*="st-key-sides_"] .stColumn:first-child:not(.stColumn .stColumn) > .stVerticalBlock {
  display: grid;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 15rem), 1fr));
}
.st-key-links { padding-right: 1.25rem; mask-image: linear-gradient(to left, #0000, #000 1.25rem); }
.st-key-lang button { padding-inline: .5rem; }
/* maps side by side keep the size that they are drawn for, and move sideways */
.st-key-scores, .st-key-heads, .st-key-long_maps { overflow-x: auto; }
.st-key-scores > div, .st-key-heads > div, .st-key-long_maps > div { min-width: 65rem; }
.stTable :is(td, th) { padding-inline: .25rem; }
"""
_GROWN = """
.stMainBlockContainer { padding-inline: 2rem; }
/* the live map has all of the width: what it is of is chosen below it */
.st-key-live > * > .stHorizontalBlock { flex-wrap: wrap !important; }
.st-key-live .stColumn { min-width: calc(100% - 1.5rem) !important; }
@media (max-width: 40rem) {
  .stMainBlockContainer { padding-inline: 1rem; }
  .st-key-way { flex-wrap: wrap; }
}
"""


def style(*, large: bool) -> str:
    """Return the style sheet of all pages, as markup."""
    rules = f"{_ALWAYS} @media (max-width: 56rem) {{ {_SLIM} {_NARROW} }}"
    if large:
        rules += f"html {{ font-size: {16 * LARGE:g}px !important; }} {_SLIM} {_GROWN}"
    return f"<style>{rules}</style>"
