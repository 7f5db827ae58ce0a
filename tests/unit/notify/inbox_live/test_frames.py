"""What a stream is told, by where it stands."""

import asyncio
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.clock import ManualClock
from tidings.contracts.ids import RecipientId
from tidings.kernel.ids import TenantId
from tidings.notify.inbox.model import Inbox, InboxKey
from tidings.notify.inbox_live.listener import InboxListener
from tidings.notify.inbox_live.model import MOST_CHANGES, Ending, LiveChange, LiveNews
from tidings.notify.inbox_live.socket import SocketWriter
from tidings.notify.inbox_live.turns import WaitingInboxes

KEY = InboxKey(tenant_id=TenantId("tnt_A"), recipient_id=RecipientId("rcp_A"))


def change(version: int, place: int | None = None, *, removed: bool = False) -> LiveChange:
    return LiveChange(version, place or version, f"inb_{version}", None if removed else '{"title":"T"}')


def news(latest: int, *changes: LiveChange, cut: bool = False) -> LiveNews:
    return LiveNews(inbox=Inbox(unread=2, unseen=1, latest=latest), changes=changes, cut=cut)


def listener(after: int | None = None, wake: Callable[[], None] = lambda: None) -> InboxListener:
    return InboxListener(
        KEY,
        id_="p-1",
        transport="ws",
        since=None,
        until=None,
        after=after,
        opened_at=ManualClock().now(),
        wake=wake,
    )


def test_what_is_at_a_place_that_was_not_seen_is_an_item_and_all_else_a_change() -> None:
    told = news(9, change(7), change(8, place=3), change(9, removed=True))

    frames = [json.loads(frame.data) for frame in told.frames(6)]

    assert [(one["type"], one["id"]) for one in frames] == [("item", 7), ("change", 8), ("change", 9)]
    assert frames[0]["item"] == {"title": "T"}
    assert (frames[2]["item_id"], frames[2]["removed"]) == ("inb_9", True)
    assert {(one["unread"], one["unseen"]) for one in frames} == {(2, 1)}


def test_only_what_is_above_its_position_is_told() -> None:
    told = news(9, change(7), change(8), change(9))

    assert [frame.id for frame in told.frames(8)] == [9]
    assert told.frames(9) == []


def test_who_is_too_far_back_or_of_another_inbox_is_told_to_reload() -> None:
    cut = news(200, change(101), change(200), cut=True)

    assert [frame.kind for frame in cut.frames(50)] == ["reset"]
    assert [frame.kind for frame in cut.frames(150)] == ["item"]
    assert [frame.kind for frame in news(5).frames(6)] == ["reset"]


@given(st.lists(st.integers(min_value=0, max_value=4), max_size=40))
def test_every_change_is_told_once_in_whatever_sets_it_is_read(sizes: list[int]) -> None:
    one, latest, heard = listener(after=0), 0, []
    for size in sizes:
        # What is read may begin before what was told already: others of the inbox stood further back.
        changes = [change(version) for version in range(max(1, latest - 2), latest + size + 1)]
        latest += size
        one.tell(news(latest, *changes), now=1.0)
        heard += [frame.id for frame in one.take() if frame.kind in ("item", "change")]

    assert heard == list(range(1, latest + 1))


def test_what_is_not_taken_is_bounded_and_becomes_a_reload() -> None:
    one = listener(after=0)

    resets = [
        one.tell(news(last, *(change(n) for n in range(last - 89, last + 1))), now=1.0)
        for last in range(90, 901, 90)
    ]
    frames = one.take()

    assert resets.count(True) >= 1
    assert len(frames) <= 2 * MOST_CHANGES
    assert frames[0].kind == "reset"
    assert one.position == 900


def test_a_tenant_with_many_inboxes_holds_up_no_other() -> None:
    waiting = WaitingInboxes()
    for number in range(1000):
        waiting.put(InboxKey(tenant_id=TenantId("tnt_large"), recipient_id=RecipientId(f"rcp_{number}")))
    for tenant in "abc":
        waiting.put(InboxKey(tenant_id=TenantId(f"tnt_{tenant}"), recipient_id=RecipientId("rcp_1")))
    waiting.put(InboxKey(tenant_id=TenantId("tnt_a"), recipient_id=RecipientId("rcp_1")))

    first = waiting.take(100)
    taken = [*first]
    while waiting:
        taken += waiting.take(100)

    assert {one.tenant_id for one in first} == {"tnt_large", "tnt_a", "tnt_b", "tnt_c"}
    assert len(first) == 100
    assert len(taken) == len(set(taken)) == 1003


class _HeardSocket:
    """What was said over it."""

    def __init__(self) -> None:
        self.said: list[dict[str, object]] = []

    async def send(self, text: str) -> None:
        self.said.append(json.loads(text))


@pytest.mark.parametrize("turns", range(8))
async def test_what_is_told_while_a_socket_stops_writing_is_written_too(turns: int) -> None:
    socket = _HeardSocket()
    writer = SocketWriter(socket, patience=60)  # type: ignore[arg-type]
    writer.listener = one = listener(after=0, wake=writer.wake)

    one.tell(news(1, change(1)), now=1.0)
    for _ in range(turns):
        await asyncio.sleep(0)
    one.tell(news(2, change(2)), now=1.0)
    for _ in range(50):
        await asyncio.sleep(0)

    assert [said["id"] for said in socket.said if said["type"] == "item"] == [1, 2]


@pytest.mark.parametrize(
    ("why", "taken"),
    [
        (Ending.TOKEN_VOIDED, []),
        (Ending.TENANT_CLOSED, []),
        (Ending.TOKEN_EXPIRED, [7, 7]),
        (Ending.RESTARTING, [7, 7]),
    ],
)
def test_who_may_hear_no_more_is_not_told_what_was_waiting(why: Ending, taken: list[int]) -> None:
    one = listener(after=6)
    one.tell(news(7, change(7)), 0.0)

    one.end(why)

    assert [frame.id for frame in one.take()] == taken
    assert one.ended is why
