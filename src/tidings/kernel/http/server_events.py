"""Server-sent events as they are written: what every stream of ours has in common."""

from random import uniform
from typing import Final

MEDIA_TYPE: Final = "text/event-stream"
#: What proxies and browsers are told of a stream.
HEADERS: Final = {"cache-control": "no-store", "x-accel-buffering": "no"}
#: Seconds that a client waits before it comes back: drawn anew for each, so that those who lost their process together
#: do not come back together.
SOON: Final = (1.0, 4.0)
AFTER_RESTART: Final = (0.5, 8.0)


def retry(seconds: tuple[float, float]) -> bytes:
    """How long a client is to wait before it comes back, somewhere between the two."""
    return b"retry: %d\n\n" % (uniform(*seconds) * 1000)  # noqa: S311  # spreads them, and keeps no secret


def event(kind: str, data: str, *, id_: int | None = None) -> bytes:
    """One event; its id is where a client goes on that comes back."""
    place = "" if id_ is None else f"id: {id_}\n"
    return f"{place}event: {kind}\ndata: {data}\n\n".encode()


def sign_of_life(id_: int | None = None) -> bytes:
    """Keeps the connection open; its id moves the client on, though nothing came that it may hear."""
    place = "" if id_ is None else f"id: {id_}\n"
    return f": still here\n{place}\n".encode()
