"""Health and metrics on a port of their own."""

import httpx2

from tidings.kernel.errors import DatabaseUnavailableError, DegradedError, NotReadyError
from tidings.kernel.http.health import Check
from tidings.kernel.http.watch_app import WatchApp
from tidings.kernel.metrics import Metrics


def watcher(**checks: Check) -> httpx2.AsyncClient:
    app = WatchApp(checks=checks, render_metrics=Metrics().render)
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://watched")


async def well() -> str:
    return "3 run"


async def database_away() -> None:
    raise DatabaseUnavailableError


async def job_fell() -> None:
    raise NotReadyError("due fell (LookupError)")


async def partition_missing() -> None:
    raise DegradedError("1 missing")


async def test_it_says_how_the_parts_are() -> None:
    async with watcher(jobs=well, partitions=partition_missing) as client:
        alive, ready = await client.get("/healthz"), await client.get("/readyz")
        metrics = await client.get("/metrics")

    assert (alive.status_code, alive.json()) == (200, {"status": "ok"})
    assert (ready.status_code, ready.json()) == (
        200,
        {
            "status": "degraded",
            "parts": {
                "jobs": {"ok": True, "detail": "3 run"},
                "partitions": {"ok": True, "detail": "1 missing", "degraded": True},
            },
        },
    )
    assert metrics.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert "# TYPE tidings_bus_relayed_total counter" in metrics.text


async def test_it_says_what_is_not_ready() -> None:
    async with watcher(database=database_away, jobs=job_fell) as client:
        ready = await client.get("/readyz")

    assert (ready.status_code, ready.json()["status"]) == (503, "not_ready")
    assert ready.json()["parts"] == {
        "database": {"ok": False, "detail": "can't be reached"},
        "jobs": {"ok": False, "detail": "due fell (LookupError)"},
    }


async def test_it_serves_nothing_else() -> None:
    async with watcher() as client:
        nowhere, post = await client.get("/api/v1/tenant"), await client.post("/metrics")
        head = await client.head("/healthz")

    assert (nowhere.status_code, nowhere.json()["code"]) == (404, "no_route")
    assert (post.status_code, post.headers["allow"]) == (405, "GET, HEAD")
    assert head.status_code == 200
