"""What was asked for and is not legal, as notices: each beside the control that it concerns.

An address, two quick moves or a field may ask for it. A notice goes with the next change.
"""

import re

import streamlit as st

from xpos_viz.figures.words import listed
from xpos_viz.state import Refusal
from xpos_viz.texts import Text
from xpos_viz.ui.session import refusals

_NAMED = 4  # most notices without a control
_TOLD = "told"
_ONE_OF = re.compile(r"use one of: (.+)\.$")
_SUCH_AS = re.compile(r"use one of (\d+), such as: (.+)\.$")
_WITHIN = re.compile(r"use (\d+) to (\d+)\.$")
_MOST = re.compile(r" must be at most (\d+) here, got ")
_NUMBER = re.compile(r" must be an? ((?:\w+ )?(?:integer|number))([^,]*), got ")
_KINDS = {"integer": "whole", "whole number": "whole", "even integer": "even"}
_CONTROLS = {"base.1": "base", "base.2": "xpos_base", "start": "window", "stop": "window"}


def begin() -> None:
    """Begin a page, on which nothing is told yet."""
    st.session_state[_TOLD] = set()


def beside(text: Text, *controls: str) -> None:
    """Draw the notices of controls that stand here."""
    st.session_state[_TOLD].update(controls)
    for refusal in concerning(*controls):
        st.warning(_words(refusal, text))


def concerning(*controls: str) -> list[Refusal]:
    """Return what was refused of some controls."""
    return [refusal for refusal in refusals() if _control(refusal) in controls]


def others(text: Text) -> None:
    """Draw the notices of what has no control on the page, a few of them one by one."""
    told = st.session_state[_TOLD]
    left = [refusal for refusal in refusals() if _control(refusal) not in told]
    for refusal in left[:_NAMED]:
        st.warning(_words(refusal, text))
    if len(left) > _NAMED:
        st.warning(text("ui.more_refused", count=len(left) - _NAMED))


def _control(refusal: Refusal) -> str:
    """The key of the control that a setting has."""
    return _CONTROLS.get(refusal.key, refusal.key)


def _words(refusal: Refusal, text: Text) -> str:
    """What was refused, what is used instead, and why."""
    asked = {"key": refusal.key, "value": refusal.value}
    if refusal.used is None:
        return text("ui.unknown", key=refusal.key)
    if refusal.used:
        said = text("ui.refused", used=refusal.used, **asked)
    else:
        said = text("ui.left_out", **asked)
    return text("ui.because", said=said, reason=_reason(refusal, text)) if refusal.plain else said


def _reason(refusal: Refusal, text: Text) -> str:
    """What could be used, in the reader's language where the message has a known form."""
    if found := _ONE_OF.search(refusal.reason):
        return text("ui.reasons.one_of", words=found[1])
    if found := _SUCH_AS.search(refusal.reason):
        return text("ui.reasons.such_as", count=found[1], words=found[2])
    if found := _WITHIN.search(refusal.reason):
        return text("ui.reasons.within", first=found[1], last=found[2])
    if found := _MOST.search(refusal.reason):
        return text("ui.reasons.must", what=_number("integer", f"≤ {found[1]}", text))
    if found := _NUMBER.search(refusal.reason):
        return text("ui.reasons.must", what=_number(found[1], found[2], text))
    return text("ui.reasons.other", reason=refusal.reason)


def _number(kind: str, range_: str, text: Text) -> str:
    """What number is legal, with its limits in brackets: `> 0 and ≤ 1`, `from 0 to 8`, or none."""
    name = text(f"ui.reasons.{_KINDS.get(kind, 'number')}")
    signs = range_.replace("from ", "≥ ").replace(" to ", " and ≤ ").removesuffix(" here")
    written = (limit.strip().replace(" ", "\u00a0") for limit in signs.split(" and "))
    limits = [limit.replace("-", "−") for limit in written if limit]
    return text("figure.label", name=name, settings=listed(limits, text)) if limits else name
