"""Lets pages of any origin call the routes that say so (CORS), as the web component on a tenant's own site does.

Any origin is safe where a request carries its own bearer token and no cookie: a strange page has no token to send, and
browsers are told to send nothing of their own (`*` rules out credentials).
"""

from tidings.kernel.http.asgi import App, Message, Receive, Scope, Send, header, respond
from tidings.kernel.http.routing import RouteTable

_ANY = (b"access-control-allow-origin", b"*")
#: What a script may read beside the body.
_READABLE = (b"access-control-expose-headers", b"etag, location, retry-after, x-request-id")
_MAY_SEND = "authorization, content-type, idempotency-key, if-match, last-event-id, x-request-id"
#: Seconds for which a browser need not ask again; the most that any of them keeps.
_REMEMBERED = "86400"


class AnyOrigin:
    """Answers preflight requests of open routes, and opens their answers, problems too."""

    def __init__(self, app: App, *, routes: RouteTable[bool]) -> None:
        self._app = app
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or header(scope, b"origin") is None:
            await self._app(scope, receive, send)
            return
        methods, _ = self._routes.find(scope["path"])
        if not methods:
            await self._app(scope, receive, send)
        elif scope["method"] == "OPTIONS" and header(scope, b"access-control-request-method") is not None:
            allowed = [
                ("access-control-allow-origin", "*"),
                ("access-control-allow-methods", ", ".join(sorted(methods))),
                ("access-control-allow-headers", _MAY_SEND),
                ("access-control-max-age", _REMEMBERED),
            ]
            await respond(send, 204, b"", media_type=None, extra=allowed)
        else:
            await self._app(scope, receive, _opened(send))


def _opened(send: Send) -> Send:
    async def send_open(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], _ANY, _READABLE]}
        await send(message)

    return send_open
