"""The body of a request, piece by piece: it is never whole in memory."""

from collections.abc import AsyncIterator
from typing import Any

from litestar import Request

from tidings.kernel.http.asgi import ClientGoneError, headers
from tidings.kernel.http.errors import WrongContentTypeError

#: What a file may be.
TYPES = ("text/csv", "application/x-ndjson", "application/jsonl")


async def body_pieces(request: "Request[Any, Any, Any]") -> AsyncIterator[bytes]:
    """Its pieces as they arrive; a `ClientGoneError` where the sender hung up half-way."""
    receive: Any = request.receive
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        more = message.get("more_body", False)
        if piece := message.get("body", b""):
            yield bytes(piece)


def require_table(request: "Request[Any, Any, Any]") -> None:
    """Refuse a body that does not say that it is a CSV or JSON lines, or that is packed."""
    said = headers(request.scope, b"content-type")
    kind = said[0].partition(";")[0].strip().lower() if len(said) == 1 else ""
    if kind not in TYPES:
        raise WrongContentTypeError(
            "the body has to be a CSV or JSON lines: send Content-Type: text/csv, or application/x-ndjson"
        )
    packed = headers(request.scope, b"content-encoding")
    if any(coding.strip().lower() not in ("", "identity") for coding in packed):
        raise WrongContentTypeError("the body has to be plain: send it without Content-Encoding")
