"""Readiness says which part is not ready, and why in a word."""

import asyncio

from tidings.kernel.errors import DatabaseUnavailableError, DegradedError, NotConfiguredError
from tidings.kernel.http.health import ask_all


async def fine() -> None:
    return None


async def unreachable() -> None:
    raise DatabaseUnavailableError("postgres://user:password@host")


async def not_set_up() -> None:
    raise NotConfiguredError


async def broken() -> None:
    raise RuntimeError("password")


async def stuck() -> None:
    await asyncio.Event().wait()


async def test_all_parts_ready() -> None:
    readiness = await ask_all({"database": fine, "bus": fine}, timeout=1)

    assert readiness.status == "ready"
    assert all(part.ok for part in readiness.parts.values())


async def test_each_part_that_is_not_ready_says_why() -> None:
    checks = {"a": fine, "b": unreachable, "c": not_set_up, "d": broken, "e": stuck}

    readiness = await ask_all(checks, timeout=0.01)

    assert readiness.status == "not_ready"
    assert {name: part.detail for name, part in readiness.parts.items()} == {
        "a": None,
        "b": "can't be reached",
        "c": "not_configured",
        "d": "fails (RuntimeError)",
        "e": "does not answer",
    }


async def limping() -> None:
    raise DegradedError("Postgres counts")


async def test_a_part_that_limps_is_ready_and_says_how() -> None:
    """Requests go on being sent here; one that is not ready outweighs it."""
    limps = await ask_all({"a": fine, "b": limping}, timeout=1)
    worse = await ask_all({"a": broken, "b": limping}, timeout=1)

    assert (limps.status, worse.status) == ("degraded", "not_ready")
    assert (limps.parts["b"].ok, limps.parts["b"].degraded) == (True, True)
    assert limps.parts["b"].detail == "Postgres counts"
