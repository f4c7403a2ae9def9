"""What is done to a page and timed there: a slider released, and a slider dragged."""

from dataclasses import dataclass
from itertools import pairwise

from benchmarks.chromium import Session
from benchmarks.pages import App, at_rest

REACH = 3
"""Steps of a drag to one side; as many lead back, so a drag has twice as many moves."""

_THUMB = 18  # pixels, about, of a slider's thumb
_CLOSER = 4  # moves of the pointer from one step of a slider to the next


@dataclass(frozen=True)
class Release:
    """One release of γ: milliseconds to the picture and to rest, bytes received until rest."""

    picture: float
    rest: float
    size: int


@dataclass(frozen=True)
class Frame:
    """One move of a drag, milliseconds.

    Work is that of the page's thread, without its wait for the screen: handling the event, and
    the frame from its first callback to the end of painting. Script is the JavaScript in it.
    Shown is from the event to the beginning of the frame after, and so at least one frame.
    """

    work: float
    script: float
    shown: float


@dataclass(frozen=True)
class Drag:
    """The frames of a drag, and the bytes that went to and from the server meanwhile."""

    frames: list[Frame]
    size: int


def release(page: Session, app: App) -> Release:
    """Move γ one step up, to where it has not been, and wait until all has followed."""
    page.call("Page.bringToFront")
    page.value(f"bench.start({app.slider})")
    page.press_right()
    page.wait_for("bench.followed()")
    at_rest(page)
    return Release(
        page.value("bench.first.at - bench.moved"),
        page.value("bench.stirred - bench.moved"),
        page.value("bench.sent()"),
    )


def drag(page: Session, key: str) -> Drag:
    """Drag a slider of the live map some steps away and back, so that nothing is committed."""
    page.call("Page.bringToFront")
    track = page.value(f"bench.track(bench.within('input[data-key={key}]'))")
    step, last, y = track["step"], track["last"], track["y"]
    room = track["width"] - _THUMB

    def pointer(event: str, place: float, button: str = "left") -> None:
        page.mouse(event, track["left"] + _THUMB / 2 + room * place / last, y, button)

    side = REACH if step + REACH <= last else -REACH
    turn = step + side
    toward = 1 if side > 0 else -1
    path = [*range(step, turn, toward), *range(turn, step, -toward), step]
    pointer("mouseMoved", step, "none")
    before, image = page.value("bench.received + bench.given"), page.value("bench.image()")
    pointer("mousePressed", step)
    page.value("bench.taken()")
    frames: list[Frame] = []
    for here, there in pairwise(path):
        for part in range(1, _CLOSER + 1):
            pointer("mouseMoved", here + (there - here) * part / _CLOSER)
            if timed := page.value("bench.taken()"):
                frames.append(Frame(**timed))
        if there == turn and page.value("bench.image()") == image:
            raise RuntimeError(f"the picture did not follow the slider {key}.")
    size = page.value("bench.received + bench.given") - before
    pointer("mouseReleased", step)
    at_rest(page)
    if len(frames) < abs(side):
        raise RuntimeError(f"the slider {key} did not follow the pointer: {len(frames)} frames.")
    return Drag(frames, size)
