"""`kill -9` of the API, of workers and of Postgres at random moments, while thousands are under way.

`TIDINGS_TEST_IN_FLIGHT=5000` runs it at full size; `-s` shows what was measured.
"""

import contextlib
import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from itertools import pairwise

import asyncpg
import psutil
import pytest
from bench.house import House, Program, wait_for

from tests.e2e.pipeline.ledger import Ledger, read_ledger
from tests.e2e.pipeline.senders import Senders
from tests.support.counting_vendor import CountingVendor
from tests.support.prepared_house import prepared_house
from tests.support.running import wait_until

pytestmark = pytest.mark.xdist_group("surviving")

IN_FLIGHT = int(os.environ.get("TIDINGS_TEST_IN_FLIGHT", "800"))
SEED = int(os.environ.get("TIDINGS_TEST_SEED", "7"))
#: How often each is killed.
ROUNDS = 1 if IN_FLIGHT < 2000 else 4
#: Seconds that the vendor takes for an answer at most; at full size it is slower than the API, so that thousands wait.
HOLD = 0.04 if IN_FLIGHT < 2000 else 0.2
#: Generous: machines are shared. What was measured is printed.
LONGEST_STANDSTILL = 30.0


def test_nothing_is_lost_and_twice_is_only_what_nobody_could_know() -> None:
    """Every 202 arrives; what arrived twice is listed as never answered; each has one outcome; nothing is left."""
    luck = random.Random(SEED)
    with (
        CountingVendor(seed=SEED, hold=HOLD) as vendor,
        prepared_house(
            workers=2, vendors={"smtp": {"host": "127.0.0.1", "port": vendor.port, "security": "none"}}
        ) as house,
    ):
        resident = house.resident("killed")
        senders = Senders(house.base_url, resident, count=IN_FLIGHT)
        sending = vendor.begin(senders.send_all())
        victims = ["api", "worker", "postmaster", "backends"] * ROUNDS
        luck.shuffle(victims)
        kills: list[tuple[str, float]] = []
        under_way = 0
        for number, victim in enumerate(victims):
            _await_count(house, vendor, IN_FLIGHT * (number + luck.random()) / (len(victims) + 1))
            under_way = max(under_way, len(senders.accepted) - len(vendor.came))
            kills.append((victim, time.monotonic()))
            _kill(house, victim, luck)
        _await(house, sending.done, "all to be accepted")
        sending.result()
        sent = set(senders.accepted.values())
        assert len(sent) == IN_FLIGHT
        ledger = _await_the_end(house, sent)
        gaps = _standstills(kills, vendor.moments)

        twice = {id_ for id_, moments in vendor.came.items() if len(moments) > 1}
        print(  # noqa: T201  # figures of the run, shown with -s
            f"\n{IN_FLIGHT} sent, up to {under_way} under way at a kill; seed {SEED}, killed: {victims}"
            f"\n  longest standstill after a kill, seconds: "
            + ", ".join(f"{victim} {gap:.2f}" for victim, gap in gaps.items())
            + f"\n  arrived {vendor.count}, of them twice {len(twice)}; never learned {len(ledger.never_learned)}"
            f", the last noticed after {ledger.noticed_after.total_seconds():.1f} s"
            f"\n  refusals seen by clients: {dict(senders.refusals)}"
        )
        assert sent <= set(vendor.came), "lost"
        assert twice <= ledger.never_learned
        assert {ledger.statuses[id_] for id_ in sent} == {"delivered"}
        for told in (ledger.proofs, ledger.outcome_events, ledger.delivered_events):
            assert {told[id_] for id_ in sent} == {1}
        assert ledger.dead_letters == 0
        assert max(gaps.values()) < LONGEST_STANDSTILL
        for id_ in sorted(twice)[:3]:
            _await(house, house.is_ready, "the API to answer")
            story = house.get(resident, f"/api/v1/notifications/{id_}/explain")
            assert isinstance(story, dict)
            told_of = [(attempt["status"], attempt["reason"]) for attempt in story["attempts"]]
            assert ("timed_out", "answer_never_learned") in told_of


def _await(
    house: House,
    condition: Callable[[], bool],
    what: str,
    patience: float = 300,
    wait: Callable[[Callable[[], bool], str, float], object] = wait_for,
) -> None:
    """Wait for it, and let nobody lie dead meanwhile."""

    def so() -> bool:
        house.revive()
        return condition()

    wait(so, what, patience)


def _await_count(house: House, vendor: CountingVendor, goal: float) -> None:
    _await(house, lambda: vendor.count >= goal, f"{goal:.0f} to arrive")


def _standstills(kills: Sequence[tuple[str, float]], moments: Sequence[float]) -> dict[str, float]:
    """The longest time in which nothing arrived between a kill and the next one, by what was killed."""
    longest: dict[str, float] = {}
    ends = [at for _, at in kills[1:]] + [moments[-1]]
    for (victim, at), end in zip(kills, ends, strict=True):
        points = [at, *(moment for moment in moments if at < moment < end), end]
        gap = max((b - a for a, b in pairwise(points)), default=0.0)
        longest[victim] = max(longest.get(victim, 0.0), gap)
    return longest


def _await_the_end(house: House, sent: set[str]) -> Ledger:
    """Wait until nothing is under way; what is kept then."""
    last: list[Ledger] = []

    def over() -> bool:
        try:
            last[:] = [read_ledger(house.postgres.url("tidings_owner"))]
        except (OSError, asyncpg.PostgresError):
            return False  # The last kill may have been the server's.
        return (
            not any(last[0].waiting.values())
            and sent <= set(last[0].delivered_events)
            and all(last[0].statuses[id_] == "delivered" for id_ in sent)
        )

    try:
        _await(house, over, "everything to be over", patience=60, wait=wait_until)
    except AssertionError:
        pytest.fail(f"left: {last[0].waiting}, dead letters {last[0].dead_letters}\n{_logs(house)}")
    return last[0]


def _logs(house: House) -> str:
    return "\n".join(program.output[-3000:] for program in house.programs)


def _kill(house: House, victim: str, luck: random.Random) -> None:
    if victim == "api":
        _again(house.api)
    elif victim == "worker":
        _again(luck.choice(house.workers))
    elif victim == "postmaster":
        _kill_postmaster(house)
    else:
        # The postmaster ends all the others and recovers by itself.
        wait_for(lambda: bool(_backends(house)), "somebody to be connected")
        luck.choice(_backends(house)).send_signal(signal.SIGKILL)


def _backends(house: House) -> list[psutil.Process]:
    pid = house.postgres.pid
    assert pid is not None
    found = []
    for child in psutil.Process(pid).children():
        with contextlib.suppress(psutil.NoSuchProcess):
            if "tidings_runtime" in " ".join(child.cmdline()):
                found.append(child)
    return found


def _again(program: Program) -> None:
    """Killed, and started again at once, as a process manager does."""
    program.kill()
    program.launch()


def _kill_postmaster(house: House) -> None:
    pid = house.postgres.pid
    assert pid is not None
    postmaster = psutil.Process(pid)
    family = [postmaster, *postmaster.children()]
    for process in family:
        process.kill()
    wait_for(lambda: house.postgres.exit_code is not None, "its end")
    deadline = time.monotonic() + 60
    house.postgres.start_again()
    while not house.postgres.is_ready:
        # The last of the old ones may still be ending.
        if house.postgres.exit_code is not None and time.monotonic() < deadline:
            house.postgres.start_again()
        assert time.monotonic() < deadline, house.postgres.last_words()
