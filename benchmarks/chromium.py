"""A Chromium driven by its own protocol, which is asked for nothing but what is measured.

Playwright has every WebSocket message of a page copied to it, which made a picture of 26 MB
take half as long again.
"""

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

TIMEOUT = 60.0
"""Seconds after which something awaited is given up."""

_POLL = 0.02  # seconds between two looks
_WIDTH, _HEIGHT = 1440, 900  # pixels of a page
_FLAGS = (
    *("--headless=new", "--remote-debugging-port=0", "--lang=en-US", "--password-store=basic"),
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-extensions"),
    *("--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows"),
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)


class Session:
    """Commands to the browser or to one of its pages, each answered before the next.

    Parameters
    ----------
    socket
        An open connection to it.
    """

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = count(1)

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Give a command of the DevTools protocol, and return its result."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv(TIMEOUT))
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def value(self, expression: str) -> Any:  # noqa: ANN401 - whatever the page holds
        """Return the value of a JavaScript expression in the page; a promise is waited for."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['result'].get('description')}")
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until a JavaScript expression holds in the page."""
        until(lambda: self.value(f"!!({expression})"), expression)

    def press_right(self) -> None:
        """Press and release the right arrow key."""
        for event in ("rawKeyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=event,
                key="ArrowRight",
                code="ArrowRight",
                windowsVirtualKeyCode=39,
            )

    def mouse(self, event: str, x: float, y: float, button: str = "left") -> None:
        """Move, press or release the mouse at a point, CSS pixels; a drag names its button."""
        held = event != "mouseReleased" and button == "left"
        self.call(
            "Input.dispatchMouseEvent",
            type=event,
            x=x,
            y=y,
            button=button,
            buttons=int(held),
            clickCount=int(event != "mouseMoved"),
        )


class Browser:
    """A running Chromium.

    Parameters
    ----------
    address
        Host and port of its protocol.
    session
        Commands to the browser itself.
    """

    def __init__(self, address: str, session: Session) -> None:
        self._address = address
        self._session = session

    @property
    def version(self) -> str:
        """Name and version."""
        return self._session.call("Browser.getVersion")["product"]

    @contextmanager
    def page(self, url: str, script: str) -> Iterator[Session]:
        """Open an address in a fresh profile, with a script that runs before the page's own."""
        profile = self._session.call("Target.createBrowserContext")["browserContextId"]
        target = self._session.call(
            "Target.createTarget", url="about:blank", browserContextId=profile
        )["targetId"]
        with _connected(f"ws://{self._address}/devtools/page/{target}") as page:
            page.call(
                "Emulation.setDeviceMetricsOverride",
                width=_WIDTH,
                height=_HEIGHT,
                deviceScaleFactor=1,
                mobile=False,
            )
            page.call("Page.enable")
            page.call("Page.addScriptToEvaluateOnNewDocument", source=script)
            page.call("Page.navigate", url=url)
            yield page
        self._session.call("Target.disposeBrowserContext", browserContextId=profile)


@contextmanager
def launched(program: str) -> Iterator[Browser]:
    """Start a Chromium, and end it."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        port = Path(folder, "DevToolsActivePort")
        process = subprocess.Popen(
            [program, *_FLAGS, f"--user-data-dir={folder}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            until(lambda: port.is_file() and port.read_text().count("\n") >= 1, program)
            number, path = port.read_text().split()
            with _connected(f"ws://127.0.0.1:{number}{path}") as session:
                yield Browser(f"127.0.0.1:{number}", session)
        finally:
            process.terminate()
            process.wait()


@contextmanager
def _connected(address: str) -> Iterator[Session]:
    """A session over its own connection; messages of any size, no proxy between."""
    with connect(address, max_size=None, proxy=None) as socket:
        yield Session(socket)


def until(holds: Callable[[], bool], what: str) -> None:
    """Wait until something holds, or raise TimeoutError that says what did not."""
    deadline = time.monotonic() + TIMEOUT
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {TIMEOUT:.0f} s in vain for: {what}")
        time.sleep(_POLL)
