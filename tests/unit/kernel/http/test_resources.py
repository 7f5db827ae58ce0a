"""What a declaration says, and what becomes of a request that it answers."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

import httpx2
import msgspec
import pytest

from tests.support.router_app import ADMIN, calling, router_app
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Answer, Reply
from tidings.kernel.http.callers import Caller, TenantNeed
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.injection import AfterCommit, OpenTx, Parsed, ParsedTogether
from tidings.kernel.http.paging import Page, PageQuery, Paging
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.idempotency import Replay, StoredAnswer
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.parts import Parts

HOME = "tnt_01JCQ4Z9X8W7V6T5S4R3Q2P1N0"


class Wanted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str


class Filter(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    tag: str | None = None


class Thing(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str


class Names:
    """A part."""

    def __init__(self) -> None:
        self.given: list[str] = []


def a_word(text: str) -> str:
    if not text.isalpha():
        raise BadValueError("word", "must be letters")
    return text.upper()


things = Resource("things", at="/things", tag="things", scope="router", owner=Owner.TENANT_OR_PLATFORM)


@things.get(test_keys=True)
async def list_things(query: Filter, paging: Paging) -> Page[Thing]:
    """List things.

    The newest first,
    `tag` narrows it.
    """
    ids = [
        f"thg_01JCQ4Z9X8W7V6T5S4R3Q2P1N{n}"
        for n in range(5)
        if (paging.after_id or "") < f"thg_01JCQ4Z9X8W7V6T5S4R3Q2P1N{n}"
    ]
    rows = [Thing(id=one, name=query.tag or "any") for one in ids[: paging.fetch]]
    return paging.page(rows, lambda row: row)


@things.post(status=201, problems=["not_found"])
async def create_thing(
    body: Wanted, caller: Caller, names: Names, after_commit: AfterCommit
) -> Answer[Thing]:
    """Make a thing."""
    after_commit(lambda: names.given.append(body.name))
    return Answer(Thing(id=caller.actor, name=body.name), version=1, location="/things/1")


@things.patch("/{tenant_id}")
async def change_thing(tenant_id: TenantId, if_match: IfMatch, body: Wanted = Wanted(name="none")) -> Thing:  # noqa: B008
    """Change a thing."""
    if_match.expect(3)
    return Thing(id=tenant_id, name=body.name)


@things.delete("/{word}/parts")
async def delete_parts(word: Annotated[str, Parsed(a_word)], names: Names) -> None:
    """Remove its parts."""
    names.given.append(word)


@things.delete("/{word}/parts/{part}")
async def delete_part(
    of: Annotated[tuple[str, str], ParsedTogether(lambda **read: tuple(read.items()), word=a_word, part=str)],
    names: Names,
) -> None:
    """Remove one of its parts."""
    names.given.append(str(of))


@things.get("/{word}/stream", media_type="text/csv")
async def stream_thing(word: str, request: Request) -> Reply:
    """A stream."""

    async def pieces() -> AsyncIterator[bytes]:
        yield word.encode()
        yield (request.header("X-More") or "").encode()

    return Reply(body=pieces(), media_type="text/csv")


def app(names: Names | None = None) -> Any:
    return router_app(things, clock=SystemClock(), parts=Parts(names or Names()))


def declared(name: str) -> Any:
    return next(one for one in things.operations if one.name == name)


def test_a_declaration_says_all_there_is_to_say() -> None:
    listed = declared("list_things")
    assert (listed.method, listed.path, listed.resource) == ("GET", "/api/v1/things", "things")
    operation = listed.operation
    assert (operation.summary, operation.description) == (
        "List things.",
        "The newest first, `tag` narrows it.",
    )
    assert (operation.scope, operation.tenant, operation.query, operation.answer, operation.status) == (
        "router:read",
        TenantNeed.REQUIRED,
        Filter,
        Page[Thing],
        200,
    )
    made = declared("create_thing").operation
    assert (made.scope, made.body, made.answer, made.status) == ("router:write", Wanted, Thing, 201)
    changed = declared("change_thing")
    assert changed.operation.path == {"tenant_id": TENANT}
    assert (changed.operation.headers, changed.operation.body_optional) == (("If-Match",), True)
    removed = declared("delete_parts")
    assert (removed.operation.status, removed.operation.answer) == (204, None)


def test_a_resource_of_both_stands_at_both_addresses() -> None:
    twin = declared("list_things_of_platform")
    assert (twin.path, twin.operation.tenant) == ("/internal/v1/things", TenantNeed.NONE)


def test_a_resource_without_a_scope_is_public_or_a_mistake() -> None:
    bare = Resource("bare", at="/bare", tag="bare")
    with pytest.raises(TypeError, match="bare must name a scope, or be public"):
        bare.get()(list_things)
    public = Resource("hooks", at="/hooks", tag="hooks", owner=Owner.PUBLIC)
    public.get()(stream_thing)
    assert (public.operations[0].path, public.operations[0].operation.scope) == ("/hooks", None)


def test_a_handler_that_needs_what_is_not_there_stops_the_start() -> None:
    with pytest.raises(
        TypeError, match=r"POST /api/v1/things: create_thing\(names=…\): no part is a Missing"
    ):
        odd = Resource("odd", at="/things", tag="odd", scope="router")

        @odd.post(name="create_thing")
        async def create(names: "Missing") -> None: ...

        router_app(odd, clock=SystemClock())


async def read_of_tenant(tx: TenantTx) -> None: ...


async def read_later_of_tenant(open_tx: OpenTx[TenantTx]) -> None: ...


async def read_of_platform(tx: PlatformTx) -> None: ...


async def read_for_tenant(tenant_id: TenantId) -> None: ...


@pytest.mark.parametrize(
    ("handler", "owner"),
    [
        (read_of_tenant, Owner.PLATFORM),
        (read_of_tenant, Owner.CALLER),
        (read_later_of_tenant, Owner.TENANT_OR_PLATFORM),
        (read_of_platform, Owner.TENANT),
        (read_of_platform, Owner.NAMED_TENANT),
        (read_for_tenant, Owner.CALLER),
        (read_for_tenant, Owner.PLATFORM),
    ],
)
def test_a_handler_gets_no_other_transaction_than_it_names(handler: Any, owner: Owner) -> None:
    odd = Resource("odd", at="/odd", tag="odd", scope="router", owner=owner)

    with pytest.raises(TypeError, match=f"{handler.__name__}.*, tenant (required|optional|named|none)"):
        odd.get()(handler)


class Missing:
    def __init__(self, *names: str) -> None: ...


async def test_a_page_and_the_next() -> None:
    async with calling(app(), HOME) as client:
        first = (await client.get("/api/v1/things", params={"limit": 2, "tag": "red"})).json()
        assert [one["name"] for one in first["items"]] == ["red", "red"]
        second = await client.get("/api/v1/things", params={"limit": 2, "cursor": first["next_cursor"]})
        assert [one["id"][-1] for one in second.json()["items"]] == ["2", "3"]
        wrong = await client.get("/api/v1/things", params={"colour": "red"})
    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (400, "colour")


async def test_an_answer_has_its_status_its_etag_and_its_place() -> None:
    names = Names()
    async with calling(app(names), HOME) as client:
        made = await client.post("/api/v1/things", json={"name": "lamp"})
        assert (made.status_code, made.headers["etag"], made.headers["location"]) == (
            201,
            '"v1"',
            "/things/1",
        )
        assert made.json() == {"id": "key_tenant", "name": "lamp"}
        assert names.given == ["lamp"]
        wrong = await client.post("/api/v1/things", json={"nam": "lamp"})
    assert wrong.status_code == 400
    assert names.given == ["lamp"]


async def test_a_change_names_its_version_and_may_leave_out_a_body_with_a_default() -> None:
    async with calling(app(), HOME) as client:
        path = f"/api/v1/things/{HOME}"
        assert (await client.patch(path)).status_code == 428
        assert (await client.patch(path, headers={"If-Match": '"v2"'})).status_code == 412
        right = await client.patch(path, headers={"If-Match": '"v3"'})
        assert right.json() == {"id": HOME, "name": "none"}
        unknown = await client.patch("/api/v1/things/nonsense", headers={"If-Match": '"v3"'})
    assert unknown.json()["errors"][0]["field"] == "tenant_id"


async def test_a_value_of_the_path_is_read_by_its_function() -> None:
    names = Names()
    async with calling(app(names), ADMIN) as client:
        done = await client.delete("/internal/v1/things/lamp/parts")
        assert (done.status_code, done.content, names.given) == (204, b"", ["LAMP"])
        assert (await client.delete("/internal/v1/things/l4mp/parts")).json()["errors"][0]["field"] == "word"


async def test_several_values_of_the_path_are_read_as_one_object() -> None:
    names = Names()
    async with calling(app(names), ADMIN) as client:
        done = await client.delete("/internal/v1/things/lamp/parts/bulb")
        wrong = await client.delete("/internal/v1/things/l4mp/parts/bulb")
    assert (done.status_code, names.given) == (204, ["(('word', 'LAMP'), ('part', 'bulb'))"])
    assert wrong.json()["errors"][0]["field"] == "word"


async def test_a_stream_is_sent_piece_by_piece() -> None:
    async with calling(app(), HOME) as client:
        answer = await client.get("/api/v1/things/lamp/stream", headers={"X-More": "+more"})
    assert (answer.text, answer.headers["content-type"]) == ("lamp+more", "text/csv; charset=utf-8")


async def test_a_stream_ends_when_the_client_hangs_up() -> None:
    ended = asyncio.Event()
    endless = Resource("endless", at="/endless", tag="endless", owner=Owner.PUBLIC)

    @endless.get()
    async def stream() -> Reply:
        async def pieces() -> AsyncIterator[bytes]:
            try:
                while True:
                    yield b"."
                    await asyncio.sleep(0)
            finally:
                ended.set()

        return Reply(body=pieces(), media_type="text/plain")

    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        while len(sent) < 5:
            await asyncio.sleep(0)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/endless",
        "raw_path": b"/endless",
        "query_string": b"",
        "headers": [],
        "client": ("127.0.0.1", 1),
    }
    await asyncio.wait_for(router_app(endless, clock=SystemClock())(scope, receive, send), 10)
    await asyncio.wait_for(ended.wait(), 10)


async def test_a_method_that_is_not_there_is_named_with_those_that_are() -> None:
    async with calling(app(), HOME) as client:
        answer: httpx2.Response = await client.put("/api/v1/things")
        options = await client.options("/api/v1/things")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD, OPTIONS, POST")
    assert options.headers["allow"] == "GET, HEAD, OPTIONS, POST"


@pytest.mark.parametrize(
    "answer",
    [Answer("tk_secret"), Reply(body=b"tk_secret"), StoredAnswer(201, "tk_secret"), Replay(201, "tk_secret")],
)
def test_an_answer_does_not_print_its_body(answer: object) -> None:
    """It may be a new key, or an address: a log that quotes the answer must not quote those."""
    assert "tk_secret" not in repr(answer)
