"""Makes the asynchronous client of the synchronous one: the same methods, awaited."""

import re
from pathlib import Path

_SOURCE = Path(__file__).resolve().parent.parent / "client" / "src" / "tidings_client" / "synchronous.py"
#: A pattern in the synchronous client → what stands for it in the other, in this order.
_RULES = (
    (r"The client for ordinary code\.", "The client for asyncio."),
    (r"import time\n", "import asyncio\n"),
    (r"import Iterator, Sequence", "import AsyncIterable, AsyncIterator, Iterable, Sequence"),
    (r"\bPlatformResources\b", "AsyncPlatformResources"),
    (r"\bTenantResources\b", "AsyncTenantResources"),
    (r"from tidings_client\.calls import", "from tidings_client.namespaces import one_by_one\n\\g<0>"),
    (r"class Tidings\b", "class AsyncTidings"),
    (r"`with Tidings(.*); threads may", r"`async with AsyncTidings\1; tasks may"),
    (r"httpx2\.BaseTransport", "httpx2.AsyncBaseTransport"),
    (r"httpx2\.Client\(", "httpx2.AsyncClient("),
    (r"_http\.close\(", "_http.aclose("),
    (r"__(enter|exit)__", r"__a\1__"),
    (r"    def (?!__init__)", "    async def "),
    (r"pieces: Iterator\[bytes\]", "pieces: AsyncIterable[bytes] | Iterable[bytes]"),
    (r"content=pieces", "content=one_by_one(pieces)"),
    (r"-> Iterator\[", "-> AsyncIterator["),
    (r"with self\._http\.stream", "async with self._http.stream"),
    (r"yield from found\.items", "for item in found.items:\n                yield item"),
    (
        r"yield from got\.iter_bytes\(\)",
        "async for piece in got.aiter_bytes():\n                    yield piece",
    ),
    (r"got\.read\(\)", "await got.aread()"),
    (r"time\.sleep\(", "await asyncio.sleep("),
    (
        r"(?<=[ =])self\.(_do|_try|get|page|close|_http\.request|_http\.aclose)\(",
        r"await self.\1(",
    ),
)


def async_client() -> str:
    """The text of the module, without its head."""
    text = _SOURCE.read_text(encoding="utf-8")
    for pattern, replacement in _RULES:
        text, count = re.subn(pattern, replacement, text)
        if not count:
            raise ValueError(f"{_SOURCE} has no {pattern} any more; change the rules of {__file__}")
    return text
