"""Style and script of the console, named by what they hold, so that browsers may keep them for long."""

from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final, NamedTuple

_TYPES: Final = {"console.css": "text/css", "console.js": "text/javascript", "frame.js": "text/javascript"}


class StaticFile(NamedTuple):
    """One of them."""

    content: bytes
    media_type: str
    version: str


@cache
def static_file(name: str) -> StaticFile | None:
    """A file by its name; None: there is none."""
    if name not in _TYPES:
        return None
    content = files(__package__).joinpath(name).read_bytes()
    return StaticFile(content, _TYPES[name], sha256(content).hexdigest()[:12])


def versioned(name: str) -> str:
    """Where pages find it."""
    found = static_file(name)
    return f"/console/static/{name}?v={found.version if found else ''}"
