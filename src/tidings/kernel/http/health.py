"""Says that the process lives, that its parts are ready, and what it measures."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, TypeAlias

import msgspec

from tidings.kernel.errors import DatabaseUnavailableError, DegradedError, NotReadyError, TidingsError
from tidings.kernel.http.answers import Answer, Reply
from tidings.kernel.http.resources import Owner, Resource

#: A check returns when its part is ready, with a few words where there is something to say, and raises where it is not;
#: a `DegradedError` where it is, in another way. The words of that and of a `NotReadyError` are shown.
Check: TypeAlias = Callable[[], Awaitable[str | None]]
#: The charset is added to it.
PROMETHEUS = "text/plain; version=0.0.4"


class Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One part, and how it is."""

    ok: bool
    #: Why not, in which other way, or how it is, in a few words.
    detail: str | None = None
    #: It works in another way than it should.
    degraded: bool = False


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """Whether requests should be sent here."""

    #: `degraded` is ready: requests are served as ever, and somebody should look.
    status: Literal["ready", "degraded", "not_ready"]
    parts: dict[str, Part]


class Liveness(msgspec.Struct, frozen=True, kw_only=True):
    """The process is running."""

    status: Literal["ok"] = "ok"


async def ask_all(checks: Mapping[str, Check], *, timeout: float) -> Readiness:
    """Ask every part at once; none is waited for longer than `timeout` seconds."""
    parts = await asyncio.gather(*(_ask(check, timeout) for check in checks.values()))
    status: Literal["ready", "degraded", "not_ready"] = "ready"
    if not all(part.ok for part in parts):
        status = "not_ready"
    elif any(part.degraded for part in parts):
        status = "degraded"
    return Readiness(
        status=status,
        parts=dict(zip(checks, parts, strict=True)),
    )


async def _ask(check: Check, timeout: float) -> Part:
    try:
        said = await asyncio.wait_for(_words(check), timeout)
    except TimeoutError:
        return Part(ok=False, detail="does not answer")
    except DatabaseUnavailableError:
        return Part(ok=False, detail="can't be reached")
    except DegradedError as error:
        return Part(ok=True, degraded=True, detail=str(error))
    except NotReadyError as error:
        return Part(ok=False, detail=str(error))
    except TidingsError as error:
        return Part(ok=False, detail=error.code)
    except Exception as error:  # noqa: BLE001  # a check may fail in any way; its words may hold secrets
        return Part(ok=False, detail=f"fails ({type(error).__name__})")
    return Part(ok=True, detail=said)


async def _words(check: Check) -> str | None:
    return await check()


def health_resource(
    *, checks: Mapping[str, Check], render_metrics: Callable[[], bytes], timeout: float = 2.0
) -> Resource:
    """`/healthz`, `/readyz` and `/metrics`."""
    health = Resource("health", at="", tag="health", owner=Owner.PUBLIC)

    @health.get("/healthz")
    async def healthz() -> Liveness:
        """Is the process running?"""
        return Liveness()

    @health.get("/readyz", also={503: Readiness})
    async def readyz() -> Answer[Readiness]:
        """Are all its parts ready? Says which is not."""
        readiness = await ask_all(checks, timeout=timeout)
        return Answer(readiness, status=503 if readiness.status == "not_ready" else 200)

    @health.get("/metrics", media_type="text/plain")
    async def metrics() -> Reply:
        """Metrics, as Prometheus reads them."""
        return Reply(body=render_metrics(), media_type=PROMETHEUS)

    return health
