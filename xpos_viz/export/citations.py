"""BibTeX of the papers that encodings are from."""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from xpos_viz.encoding import Encoding


def bibliography(encodings: Iterable[Encoding]) -> str:
    """Return BibTeX entries of the papers that encodings are from, each once.

    Examples
    --------
    >>> from xpos_viz import xpos
    >>> print(bibliography([xpos(4), xpos(8)]).splitlines()[0])
    @misc{sun2022,
    """
    numbers = (re.search(r"arXiv:([\d.]+\d)", each.family.source) for each in encodings)
    cited = dict.fromkeys(found[1] for found in numbers if found)
    return "\n".join(_papers()[number] for number in cited)


@cache
def _papers() -> dict[str, str]:
    """The entries of the bibliography by their number in the arXiv."""
    text = (files("xpos_viz.export") / "papers.bib").read_text(encoding="utf-8")
    entries = [f"{entry.strip()}\n" for entry in text.split("\n\n")]
    return {re.findall(r"eprint = {(.*)}", entry)[0]: entry for entry in entries}
