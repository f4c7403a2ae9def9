"""The modules under js/, joined into one."""

import re
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files

ENTRY = "index"
"""The module that exports `mount`."""

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class)\*? (\w+))", re.MULTILINE)
_COMMENT = re.compile(r"^ *(/\*\*(?:[^*]|\*(?!/))*\*/|//[^\n]*)\n", re.MULTILINE)


def modules() -> dict[str, str]:
    """Return the text of every module by name."""
    folder = files("xpos_viz.livemap") / "js"
    scripts = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".js"))
    return {
        name.removesuffix(".js"): (folder / name).read_text(encoding="utf-8") for name in scripts
    }


@cache
def source() -> str:
    """Return all modules as one ES module that imports nothing and exports `mount`.

    Each module becomes a function of its own, so that none sees another's private names;
    comments on lines of their own are left out. Every process returns the same text, so a page
    that outlives its server keeps its module.

    Examples
    --------
    >>> source().splitlines()[-1]
    'export const { mount } = $index;'
    """
    scripts = modules()
    needs = {name: [match[2] for match in _IMPORT.finditer(text)] for name, text in scripts.items()}
    parts = [_joined(name, scripts[name]) for name in TopologicalSorter(needs).static_order()]
    return "\n".join([*parts, f"export const {{ mount }} = ${ENTRY};"])


def _joined(name: str, text: str) -> str:
    """One module as a constant that holds its exports."""
    exported = ", ".join(match[1] for match in _EXPORT.finditer(text))
    body = _EXPORT.sub("", _IMPORT.sub(_taken, _COMMENT.sub("", text)))
    return f"const ${name} = (() => {{\n{body.strip()}\nreturn {{ {exported} }};\n}})();"


def _taken(match: re.Match[str]) -> str:
    """An import as names taken from another module's constant."""
    names = match[1].replace(" as ", ": ")
    return f"const {{{names}}} = ${match[2]};\n"
