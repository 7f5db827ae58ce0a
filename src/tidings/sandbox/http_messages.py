"""What the sandbox is asked over HTTP, and what it answers."""

from collections.abc import AsyncIterator, Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxRequest:
    """One request, whole."""

    method: str
    path: str
    query: bytes
    #: Names in lower case.
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    #: Of HTTP.
    version: Literal["1.1", "2"] = "1.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldResponse:
    """A fault that is played on the connection itself."""

    kind: Literal["hang", "close", "garbage", "slow"]
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxResponse:
    """One answer: whole, piece by piece, or one that is not known yet."""

    status: int = 200
    body: bytes = field(default=b"", repr=False)
    media_type: str = "text/plain; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)
    hold: HeldResponse | None = None
    stream: AsyncIterator[bytes] | None = None
    #: The answer itself, where another server has to be asked first; the rest of this one says nothing.
    later: "Awaitable[SandboxResponse] | None" = None


def json_answer(
    value: object,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    retry_after: int | None = None,
) -> SandboxResponse:
    """A value as JSON; `retry_after`, in seconds, becomes a header."""
    wait = {} if retry_after is None else {"retry-after": str(retry_after)}
    return SandboxResponse(
        status=status,
        body=msgspec.json.encode(value),
        media_type="application/json",
        headers={**(headers or {}), **wait},
    )
