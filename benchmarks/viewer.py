"""A reader without a browser: one session of the dashboard, at its websocket.

It does what Streamlit's page does: it sends the state of all widgets with every change, names
the messages that it has kept, and looks again at work that is under way when told to.
"""

import json
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.util import calc_hash
from websockets import Subprotocol
from websockets.sync.client import ClientConnection, connect

from benchmarks.chromium import TIMEOUT
from xpos_viz.encoding import PARAMETERS
from xpos_viz.livemap import PARTS
from xpos_viz.ui import HOME

LESSON = "teacher=yes&lesson=gamma"
"""The step of the lessons that is shown, with its picture: what is moved there is γ."""

_PROTOCOLS = [Subprotocol("streamlit")]


@dataclass(frozen=True)
class Run:
    """What one change took: milliseconds to the end of its last run, and bytes received."""

    time: float
    size: int


@dataclass
class _Looks:
    """Which part of the page, whose work is under way, is looked at again, and when."""

    part: str = ""
    every: float = 0.0
    due: float = math.inf
    told: bool = False

    def over(self, message: ForwardMsg) -> bool:
        """Take note of a message, and return whether nothing more is to come."""
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.told, self.due = False, math.inf
        elif kind == "auto_rerun":
            asked = message.auto_rerun
            if asked.interval < TIMEOUT:  # what is looked at more seldom is no work under way
                self.part, self.every, self.told = asked.fragment_id, asked.interval, True
        elif kind == "script_finished":
            if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY and not self.told:
                return True
            self.due = time.perf_counter() + self.every if self.part else math.inf
        return False


def sliders(page: str) -> tuple[str, ...]:
    """Return the sliders of a page that are moved: γ and B, or what it has instead."""
    own = {"learn": ("at",), "choose": ("wanted", "goal_length"), "lab": ("reach",)}
    return own.get(page, ("gamma", "scale_base"))


class Viewer:
    """A session on one page, whose sliders can be moved.

    Parameters
    ----------
    socket
        An open connection to the server.
    page
        Name of the page.
    """

    def __init__(self, socket: ClientConnection, page: str) -> None:
        self._socket, self._page = socket, page
        self._address = LESSON if page == "learn" else ""
        self._kept: dict[str, Element] = {}
        self._ids: dict[str, str] = {}
        self._options: dict[str, list[str]] = {}
        self._widgets: dict[str, WidgetState] = {}
        self._said: dict[str, tuple[float, int]] = {}

    def open(self) -> Run:
        """Ask for the page, and wait until all of it is there."""
        return self._run()

    @property
    def sliders(self) -> tuple[str, ...]:
        """The sliders to be moved."""
        return sliders(self._page)

    def move(self, key: str, chance: Random) -> Run:
        """Release a slider at a step drawn at random, and wait until all has followed."""
        if self._page == HOME:
            self._say(key, chance.choice(PARAMETERS[key].steps))
        else:
            value = WidgetState(id=self._ids[key])
            value.string_array_value.data.append(chance.choice(self._options[key]))
            self._widgets[key] = value
        return self._run()

    def _say(self, key: str, value: float) -> None:
        """Move a slider of the live map."""
        number = len(self._said) and max(at for _, at in self._said.values())
        self._said[key] = (value, number + 1)
        said = {"moved": self._said, "number": number + 1, "echo": number, "holds": PARTS}
        self._widgets["livemap"] = WidgetState(
            id=self._ids["livemap"], json_value=json.dumps({"said": said | {"needs": 0}})
        )

    def _run(self) -> Run:
        """Ask for a run, and take what comes until nothing more is to come."""
        begin, size, looks = time.perf_counter(), 0, _Looks()
        self._ask()
        while True:
            data = self._next(looks)
            size += len(data)
            message = ForwardMsg.FromString(data)
            self._keep(message)
            if looks.over(message):
                return Run(1000 * (time.perf_counter() - begin), size)

    def _next(self, looks: "_Looks") -> bytes:
        """Return what comes next; meanwhile look again at what is under way."""
        while True:
            patience = min(TIMEOUT, max(0.0, looks.due - time.perf_counter()))
            try:
                return self._socket.recv(patience, decode=False)
            except TimeoutError:
                if looks.due == math.inf:
                    raise
                looks.due = math.inf
                self._ask(looks.part)

    def _ask(self, part: str = "") -> None:
        """Ask for a run of the page, or a look at a part of it."""
        asked = BackMsg()
        state = asked.rerun_script
        state.query_string = self._address
        state.page_script_hash = "" if self._page == HOME else calc_hash(self._page)
        state.context_info.locale = "en"
        state.widget_states.widgets.extend(self._widgets.values())
        state.cached_message_hashes.extend(self._kept)
        state.fragment_id, state.is_auto_rerun = part, bool(part)
        self._socket.send(asked.SerializeToString())

    def _keep(self, message: ForwardMsg) -> None:
        """Keep an element, the address, and which sliders the page has."""
        if message.WhichOneof("type") == "page_info_changed":
            self._address = message.page_info_changed.query_string
        element = self._kept.get(message.ref_hash) or message.delta.new_element
        if message.metadata.cacheable:
            self._kept[message.hash] = element
        kind = element.WhichOneof("type")
        if kind == "exception":
            raise RuntimeError(f"{self._page}: {element.exception.message}")
        if kind == "slider":
            key = element.slider.id.rpartition("-")[2]
            self._ids[key], self._options[key] = element.slider.id, [*element.slider.options]
        elif kind == "bidi_component" and "livemap" in element.bidi_component.component_name:
            self._ids["livemap"] = element.bidi_component.id


@contextmanager
def viewing(url: str, page: str) -> Iterator[Viewer]:
    """Open a session on a page of a served dashboard."""
    address = url.replace("http", "ws", 1) + "_stcore/stream"
    with connect(address, subprotocols=_PROTOCOLS, max_size=None, proxy=None) as socket:
        viewer = Viewer(socket, page)
        viewer.open()
        yield viewer
