"""One request and its answer on a connection: an answer that is whole goes out in one write.

uvicorn's own cycle writes head and body apart, which is two system calls and wakes the client twice. A request whose body
has arrived with its head is handed on with it, so that no reader has to wait for it with a timer.
"""

from typing import Any

from uvicorn._types import ASGI3Application, ASGISendEvent
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from tidings.kernel.http.asgi import WHOLE_BODY

_CONTENT_LENGTH = b"content-length"
#: Nothing that ends a header early, nor any other control character but the tab, may stand in a name or value.
_CONTROL = bytes(sorted({*range(32), 127} - {9}))
_LINE_ENDS = 2


class Exchange(RequestResponseCycle):
    """One request and its answer."""

    _held: Any = None

    async def run_asgi(self, app: ASGI3Application) -> None:
        """Have the application answer."""
        if not self.more_body:
            self.scope[WHOLE_BODY] = bytes(self.body)  # type: ignore[literal-required]
        await super().run_asgi(app)

    async def send(self, message: ASGISendEvent) -> None:
        """Take a part of the answer; a head that says how long the body is waits for the body."""
        held, self._held = self._held, None
        if held is not None:
            if self._is_whole(held, message):
                self._write_whole(held, message)
                return
            self.response_started = False
            await super().send(held)
        elif not self.response_started and _has_length(message):
            self._held = message
            self.response_started = True
            return
        await super().send(message)

    def _is_whole(self, head: Any, message: Any) -> bool:
        """Whether nothing is left to ask or wait for; all else is done as uvicorn does it."""
        return (
            message["type"] == "http.response.body"
            and not message.get("more_body", False)
            and not self.flow.write_paused
            and not self.disconnected
            and self.keep_alive
            and not self.access_log
            and self.scope["method"] != "HEAD"
            and not any(name.lower() in (b"connection", b"transfer-encoding") for name, _ in head["headers"])
        )

    def _write_whole(self, start: Any, message: Any) -> None:
        headers, body = [*self.default_headers, *start["headers"]], message.get("body", b"")
        lines = [name.lower() + b": " + value for name, value in headers]
        head = STATUS_LINE[start["status"]] + b"\r\n".join(lines)
        ends = _LINE_ENDS * len(lines)
        if len(head) - len(head.translate(None, _CONTROL)) != ends:
            raise RuntimeError("Invalid HTTP header.")
        if any(int(value) != len(body) for name, value in headers if name == _CONTENT_LENGTH):
            raise RuntimeError("The body of an answer is as long as its Content-Length says.")
        self.waiting_for_100_continue = False
        self.transport.write(head + b"\r\n\r\n" + body)
        self.response_complete = True
        self.message_event.set()
        self.on_response()


def _has_length(message: Any) -> bool:
    """Whether it is a head that says how long the body is; a stream's says nothing, and goes out at once."""
    return any(name == _CONTENT_LENGTH for name, _ in message.get("headers", ()))
