"""Callbacks twice and in any order come to the same as once and in order; `python -m bench.replayed_callbacks` shows it at full size."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from bench.replay.history import make_history
from bench.replay.runs import count_open, ordered, shuffled
from bench.replay.state import State, differences, read_state
from bench.replay.world import Heard, World, first_moment_of_today

from tests.support.postgres import TestServer

CALLBACKS = 600
SEED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What came of both runs."""

    events: int
    in_order: State
    out_of_order: State
    heard_in_order: Heard
    heard_out_of_order: Heard
    left_open: int


@pytest.fixture(scope="module")
async def replayed(server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Replayed]:
    """One history, told once in order and twice in none."""
    folder: Path = tmp_path_factory.mktemp("replayed")
    history = make_history(CALLBACKS, seed=SEED)
    async with server.clone() as database, database.opened() as db:
        day = first_moment_of_today()
        one, other = (
            World(db, history, run=run, runtime_url=database.runtime_url, folder=folder, day=day)
            for run in ("a", "b")
        )
        await ordered(one)
        await shuffled(other, seed=SEED)
        yield Replayed(
            events=history.events,
            in_order=await read_state(one),
            out_of_order=await read_state(other),
            heard_in_order=one.heard,
            heard_out_of_order=other.heard,
            left_open=await count_open(other),
        )


async def test_the_state_is_that_of_the_ordered_single_run(replayed: Replayed) -> None:
    assert differences(replayed.in_order, replayed.out_of_order) == []


async def test_every_event_was_taken_once(replayed: Replayed) -> None:
    assert (replayed.heard_in_order.accepted, replayed.heard_in_order.repeated) == (replayed.events, 0)
    assert (replayed.heard_out_of_order.accepted, replayed.heard_out_of_order.repeated) == (
        replayed.events,
        replayed.events,
    )
    assert replayed.left_open == 0
    assert {row[2] for row in replayed.out_of_order["events"]} == {"applied"}  # type: ignore[index]


async def test_there_was_something_to_get_wrong(replayed: Replayed) -> None:
    """Words before their messages, and something in everything that is compared."""
    assert replayed.heard_out_of_order.late_looks > 0
    assert replayed.heard_in_order.late_looks == 0
    empty = {name for name, rows in replayed.in_order.items() if not rows}
    assert empty == {"early bounces", "requests not done"}
    statuses = {row[1] for row in replayed.in_order["notifications"]}  # type: ignore[index]
    assert statuses == {"dispatched", "delivered", "failed", "bounced"}
    reasons = {row[2] for row in replayed.in_order["suppressions"]}  # type: ignore[index]
    assert {"hard_bounce", "soft_bounce", "complaint"} <= reasons


async def test_a_difference_would_be_seen(replayed: Replayed) -> None:
    changed = dict(replayed.in_order)
    changed["spend"] = changed["spend"].copy()
    lost = next(iter(changed["spend"]))
    del changed["spend"][lost]
    assert differences(replayed.in_order, changed) == [f"spend: 1 only in the first, such as {lost!r}"]
