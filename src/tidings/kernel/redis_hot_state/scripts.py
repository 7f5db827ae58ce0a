"""The Lua scripts that stand beside the Python that runs them."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class LuaScript:
    """One script: the server runs it as one step that others see whole."""

    text: str
    #: What the server knows it by, once it has seen the text.
    digest: str

    @classmethod
    def named(cls, name: str) -> Self:
        """The script of that file, without its ending."""
        text = (_FOLDER / f"{name}.lua").read_text(encoding="utf-8")
        return cls(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())
