"""The maps that follow the finger: what the browser is given to draw them by itself.

The picture is drawn by plain ES modules under js/, one per idea, without framework or build
step. :func:`source` joins them into one module, whose only export is

    mount(element, payload) → { update(payload), on(event, listener), destroy() }

and :func:`payload` describes an experiment, its data, colours and sentences to it, as plain
JSON with byte arrays; :func:`packed` is the same as one run of bytes. Nothing here knows who
shows it: the dashboard and an exported page are hosts alike.

On release of a control the handle emits "commit" with the values that were changed; the host
answers with `update`. Parts that the browser holds, and says that it holds, are left out of it.
"""

from xpos_viz.livemap.bundle import source
from xpos_viz.livemap.message import PARTS, packed, payload

__all__ = ["PARTS", "packed", "payload", "source"]
