"""The server's WebSocket protocol; loaded with the first handshake, since many processes never see one."""

from collections.abc import Callable

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol


class RoomySocketProtocol(WebSocketsSansIOProtocol):
    """One WebSocket; it gives its place back when it is lost."""

    on_lost: Callable[[], None] | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        """They are gone."""
        if self.on_lost is not None:
            self.on_lost()
            self.on_lost = None
        super().connection_lost(exc)
