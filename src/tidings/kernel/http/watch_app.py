"""`/healthz`, `/readyz` and `/metrics` on a port of their own, for every process that runs.

It shares nothing with the API but the loop: no access guard, no routes of resources, no limit of how many are served at once, so a
process that serves no API has it too, and one that serves too much still answers.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from tidings.kernel.http.asgi import Receive, Scope, Send, respond
from tidings.kernel.http.errors import NoRouteError, WrongMethodError
from tidings.kernel.http.health import PROMETHEUS, Check, Liveness, ask_all
from tidings.kernel.http.problems import MEDIA_TYPE, answer

_METHODS = ("GET", "HEAD")
_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WatchApp:
    """What monitoring asks a process for: health, readiness, metrics."""

    checks: Mapping[str, Check]
    render_metrics: Callable[[], bytes]
    timeout: float = 2.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  # as ASGI has it
        """Answer one request."""
        if scope["type"] != "http":
            return
        path = scope["path"]
        if path not in _PATHS:
            await self._refuse(NoRouteError(), scope, send)
        elif scope["method"] not in _METHODS:
            await self._refuse(WrongMethodError(_METHODS), scope, send)
        elif path == "/healthz":
            await respond(send, 200, msgspec.json.encode(Liveness()))
        elif path == "/metrics":
            await respond(send, 200, self.render_metrics(), media_type=f"{PROMETHEUS}; charset=utf-8")
        else:
            readiness = await ask_all(self.checks, timeout=self.timeout)
            status = 503 if readiness.status == "not_ready" else 200
            await respond(send, status, msgspec.json.encode(readiness))

    async def _refuse(self, error: Exception, scope: Scope, send: Send) -> None:
        problem = answer(error, path=scope["path"], request_id="")
        await respond(send, problem.status, problem.body, media_type=MEDIA_TYPE, extra=problem.headers)
