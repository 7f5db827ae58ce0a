"""What an upstream service answered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from tidings.backoffice.upstreams.errors import UpstreamAwayError
from tidings.backoffice.upstreams.names import UpstreamName

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamAnswer:
    """An answer with a status below 500; what it means is the caller's to say."""

    upstream: UpstreamName
    status: int
    content: bytes = field(repr=False)
    #: As the service calls the request in its logs; our own id of it where it does not say.
    request_id: str
    #: How long the service took.
    latency_ms: int
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def read(self, kind: type[T]) -> T:
        """Its JSON as the contract has it; an `UpstreamAwayError` where it is something else."""
        try:
            return msgspec.json.decode(self.content, type=kind, strict=True)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            # What it says may be about people.
            raise UpstreamAwayError(self.upstream, "schema") from None

    @property
    def error_code(self) -> str | None:
        """The `code` of a problem document, where it has one that can be kept."""
        try:
            code = msgspec.json.decode(self.content, type=_UpstreamProblem).code
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        return code if code and len(code) <= _MOST_CODE and code.isascii() and code.isidentifier() else None


class _UpstreamProblem(msgspec.Struct):
    code: str | None = None


_MOST_CODE = 64
