"""A piece of text whose tokens are tinted, and the pen that writes it as HTML.

Every character of the text is escaped: what the page gets is our own markup and nothing of
the text's. What a tint says is said by a line under the token, a mark, and in words as well.
"""

from dataclasses import dataclass
from html import escape

from xpos_viz.figures.words import bound
from xpos_viz.theme import INKS, PALETTES, Mode

LEVELS = 5
"""Steps from no tint to the full one, on either side."""

_STRENGTH: dict[Mode, float] = {"light": 0.55, "dark": 0.85}  # of the full tint
_STYLE = """<style>
.xv-passage {{ color: {text}; line-height: 2; white-space: pre-wrap; overflow-wrap: anywhere; }}
.xv-passage p {{ margin: 0 0 0.2rem; line-height: 1.5; white-space: normal; word-break: keep-all; }}
.xv-passage p:last-of-type {{ margin-bottom: .6rem; }}
.xv-passage b {{ font-size: 1rem; }}
.xv-passage .xv-faint {{ color: {faint}; }}
.xv-passage i {{ font-style: normal; border-radius: 2px; padding: 2px 1px; }}
.xv-passage p i {{ padding-inline: 4px; }}
.xv-passage .xv-gain {{ text-decoration: underline solid 2px; text-underline-offset: 4px; }}
.xv-passage .xv-loss {{ text-decoration: underline dotted 2px; text-underline-offset: 4px; }}
.xv-passage .xv-query {{ outline: 2px solid {text}; font-weight: 600; }}
.xv-passage .xv-spoken {{ position: absolute; width: 1px; height: 1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap; }}
{tints}
</style>"""
_SIGNS = {"gain": "▲", "loss": "▼"}
_ROLES = {"query": "xv-query", "ahead": "xv-faint"}


@dataclass(frozen=True)
class Token:
    """One token of a passage.

    Parameters
    ----------
    gap
        White space in front of it.
    label
        What is read.
    title
        What is said of it when it is pointed at, or nothing.
    level
        Its tint: from −:data:`LEVELS`, the full loss, to :data:`LEVELS`, the full gain.
    mark
        "gain" or "loss" if it has a sign of that, whatever its tint, else "".
    role
        "query" is framed, "ahead" is faint, and "" is neither.
    spoken
        Of a token that has a mark, what is said in its place.
    """

    gap: str
    label: str
    title: str = ""
    level: int = 0
    mark: str = ""
    role: str = ""
    spoken: str = ""


@dataclass(frozen=True)
class Passage:
    """A piece of text.

    Parameters
    ----------
    title
        Lines above it.
    alt
        What it shows, in words and numbers.
    legend
        The words for gain, loss and their unit.
    steps
        The change at which each tint begins, from the faintest on.
    tokens
        In the order of the text.
    colours
        A key of :data:`xpos_viz.theme.PALETTES`.
    roles
        The words for the roles that tokens have, by their names.
    notes
        Lines under it.
    """

    title: tuple[str, ...]
    alt: str
    legend: tuple[str, str, str]
    steps: tuple[str, ...]
    tokens: tuple[Token, ...]
    colours: str
    roles: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def markup(passage: Passage, mode: Mode = "light") -> str:
    """Write a passage as HTML.

    Parameters
    ----------
    passage
        What to write.
    mode
        "light" or "dark".

    Returns
    -------
    str
        A style and one element.
    """
    first, *rest = (escape(bound(line)) for line in passage.title)
    lines = "".join(f'<p class="xv-faint">{line}</p>' for line in rest)
    body = "".join(map(_written, passage.tokens))
    return (
        f'{_style(passage, mode)}<div class="xv-passage" role="group" '
        f'aria-label="{escape(passage.alt)}"><p><b>{first}</b></p>{lines}{_legend(passage)}{body}</div>'
    )


def tint(level: int, colours: str, mode: Mode) -> str:
    """Return the ground of a token, #rrggbb: text in the mode's ink is legible on all of them.

    Parameters
    ----------
    level
        From −:data:`LEVELS` to :data:`LEVELS`.
    colours
        A key of :data:`xpos_viz.theme.PALETTES`.
    mode
        "light" or "dark".
    """
    less, more = PALETTES[colours].sides
    share = _STRENGTH[mode] * abs(level) / LEVELS
    pairs = zip(_channels(INKS[mode].page), _channels(more if level > 0 else less), strict=True)
    mixed = (round((1 - share) * page + share * full) for page, full in pairs)
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _legend(passage: Passage) -> str:
    """What tints, marks and frames mean: a step of the scale for each tint."""
    gain, loss, unit = map(escape, passage.legend)
    steps = list(enumerate(map(escape, passage.steps), 1))
    losses, gains = (
        "".join(f'<i class="xv-{side} xv-{side}-{level}">{step}</i>' for level, step in order)
        for side, order in (("loss", steps[::-1]), ("gain", steps))
    )
    scale = f"{_SIGNS['loss']} {loss} {losses} {gains} {gain} {_SIGNS['gain']} {unit}"
    roles = (f'<i class="{_ROLES[role]}">{escape(words)}</i>' for role, words in passage.roles)
    return f"<p>{' · '.join((scale, *roles))}</p>"


def _style(passage: Passage, mode: Mode) -> str:
    """The style of a passage."""
    ink, sides = INKS[mode], {"gain": 1, "loss": -1}
    tints = (
        f".xv-passage .xv-{side}-{level} "
        f"{{ background: {tint(sign * level, passage.colours, mode)}; }}"
        for side, sign in sides.items()
        for level in range(1, LEVELS + 1)
    )
    return _STYLE.format(text=ink.text, faint=ink.faint, tints="\n".join(tints))


def _written(token: Token) -> str:
    """One token and the white space in front of it."""
    side = "gain" if token.level > 0 else "loss"
    classes = [f"xv-{side}", f"xv-{side}-{abs(token.level)}"] if token.level else []
    classes += [_ROLES[token.role]] if token.role else []
    title = f' title="{escape(token.title)}"' if token.title else ""
    mark = ""
    if token.mark:
        mark = (
            f'<span aria-hidden="true">{_SIGNS[token.mark]}</span>'
            f'<span class="xv-spoken"> ({escape(token.spoken)}) </span>'
        )
    return (
        f'{escape(token.gap)}<i class="{" ".join(classes)}"{title}>{escape(token.label)}{mark}</i>'
    )


def _channels(code: str) -> list[int]:
    """Red, green and blue of #rrggbb."""
    return [int(code[place : place + 2], 16) for place in (1, 3, 5)]
