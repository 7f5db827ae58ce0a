"""The stream of a device: what its operator may hear, as it happens."""

from typing import Annotated

from msgspec import Meta, Struct

from tidings.backoffice.announcements.model import CHANNELS
from tidings.backoffice.attestations.attest import seat_of
from tidings.backoffice.stream.hub import DeviceStreams
from tidings.backoffice.stream.sse import stream
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.callers import ANY_CALLER, StillAllowed
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.http.server_events import HEADERS, MEDIA_TYPE

stream_of_device = Resource("stream", at="/stream", tag="devices", owner=Owner.OPERATOR)

_MOST: int = 2**62


class HearStream(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to hear."""

    #: Names of channels with commas between; left out: all.
    channels: Annotated[str, Meta(max_length=200)] = ""

    def names(self) -> frozenset[str]:
        """The channels that are named."""
        named = frozenset(filter(None, self.channels.split(",")))
        if not named <= CHANNELS:
            raise BadValueError("channels", f"must be some of {', '.join(sorted(CHANNELS))}")
        return named


@stream_of_device.get(
    "",
    verb="hear",
    scope=ANY_CALLER,
    media_type=MEDIA_TYPE,
    headers=["Last-Event-ID"],
    problems=["operators_only", "too_many_device_streams"],
)
async def hear_stream(
    query: HearStream, request: Request, still_allowed: StillAllowed, streams: DeviceStreams
) -> Reply:
    """Hear on this device what changes, as server-sent events; the type of each is its channel.

    With `Last-Event-ID` a stream goes on behind it: for an hour nothing is missed, and nothing comes twice; after that `reset`
    says to load everything anew. Each announcement holds ids and counts, of properties that you have a right to. The
    stream ends within a second with the session: `end` says why.
    """
    seat_of(still_allowed.caller)
    pieces = await stream(
        streams,
        still_allowed,
        channels=query.names(),
        after=_place(request.header("Last-Event-ID")),
    )
    return Reply(body=pieces, media_type=MEDIA_TYPE, headers=HEADERS)


def _place(text: str | None) -> int | None:
    """Where a client stood that comes back."""
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and int(text) <= _MOST):
        raise BadValueError("Last-Event-ID", "must be the id of an event of this stream")
    return int(text)
