"""Which routes pages of other origins may call, and what their browsers are told."""

from typing import Any

from tests.support.router_app import calling, router_app
from tidings.kernel.clock import SystemClock
from tidings.kernel.http.resources import Resource

HOME = "tnt_01JCQ4Z9X8W7V6T5S4R3Q2P1N0"
ELSEWHERE = {"Origin": "https://shop.example"}
ASKING = {**ELSEWHERE, "Access-Control-Request-Method": "POST"}

opened = Resource("opened", at="/opened", tag="opened", scope="router", any_origin=True)
closed = Resource("closed", at="/closed", tag="closed", scope="router")


@opened.get()
async def show_opened() -> str:
    """Show it."""
    return "shown"


@opened.post("/{word}")
async def change_opened(word: str) -> str:
    """Change it."""
    return word


@closed.get()
async def show_closed() -> str:
    """Show it."""
    return "shown"


def app() -> Any:
    return router_app(opened, closed, clock=SystemClock())


async def test_a_preflight_request_is_answered_without_a_key() -> None:
    async with calling(app(), "nobody") as client:
        answer = await client.options("/api/v1/opened/a", headers=ASKING)
    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-allow-methods"] == "POST"
    assert {"authorization", "last-event-id"} <= set(
        answer.headers["access-control-allow-headers"].split(", ")
    )
    # A cookie never counts: browsers must not send one.
    assert "access-control-allow-credentials" not in answer.headers


async def test_a_page_may_read_the_answer_and_a_problem_too() -> None:
    async with calling(app(), HOME) as client:
        answer = await client.get("/api/v1/opened", headers=ELSEWHERE)
    async with calling(app(), "nobody") as client:
        problem = await client.get("/api/v1/opened", headers=ELSEWHERE)
    assert (answer.status_code, answer.json()) == (200, "shown")
    assert problem.status_code == 401
    for one in (answer, problem):
        assert one.headers["access-control-allow-origin"] == "*"
        assert "retry-after" in one.headers["access-control-expose-headers"]


async def test_all_other_routes_stay_closed() -> None:
    async with calling(app(), HOME) as client:
        answers = [
            await client.get("/api/v1/closed", headers=ELSEWHERE),
            await client.options("/api/v1/closed", headers=ASKING),
            await client.get("/openapi.json", headers=ELSEWHERE),
            await client.options("/api/v1/opened/a/b", headers=ASKING),
        ]
    assert [
        name for one in answers for name in one.headers if name.lower().startswith("access-control")
    ] == []


async def test_without_an_origin_nothing_is_said() -> None:
    async with calling(app(), HOME) as client:
        answer = await client.get("/api/v1/opened")
        options = await client.options("/api/v1/opened")
    assert "access-control-allow-origin" not in answer.headers
    assert options.headers["allow"] == "GET, HEAD, OPTIONS"
