"""Gives every request one spelling, before anything looks at its address.

Limits, routes and idempotency go by the path, so there must be one way only to write it: no doubled
slash, no slash or dot in disguise; one slash at the end is forgiven. HEAD is answered wherever GET is.
"""

import re

from tidings.kernel.http.asgi import App, Message, Receive, Scope, Send, respond
from tidings.kernel.http.errors import NoRouteError
from tidings.kernel.http.problems import MEDIA_TYPE, answer
from tidings.kernel.http.request_ids import request_id_of

#: An encoded slash, backslash or dot: no address of ours has one, and a proxy may read it differently.
_DISGUISED = re.compile(rb"%(2[ef]|5c)", re.IGNORECASE)


class Canonical:
    """Tidies the path, and makes a HEAD a GET without its body."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        if "//" in path or _DISGUISED.search(scope.get("raw_path") or b""):
            problem = answer(NoRouteError(), path=path, request_id=request_id_of(scope))
            await respond(send, problem.status, problem.body, media_type=MEDIA_TYPE, extra=problem.headers)
            return
        if path.endswith("/") and path != "/":
            scope["path"] = path[:-1]
        if scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        # A copy: the server looks at its own scope to know that no body follows.
        asked = {**scope, "method": "GET"}
        try:
            await self._app(asked, receive, _without_body(send))
        finally:
            if "path_template" in asked:
                scope["path_template"] = asked["path_template"]


def _without_body(send: Send) -> Send:
    async def send_head(message: Message) -> None:
        if message["type"] == "http.response.body":
            if message.get("more_body", False):
                return
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await send(message)

    return send_head
