"""The API, `tidings work --only notify` and `tidings work --only router`, each a process of its own, with NATS between them.

`TIDINGS_TEST_IN_FLIGHT=10000` runs the killing at full size; `-s` shows what was measured.
"""

import contextlib
import json
import os
import random
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nats
import pytest
from bench.house import House, Resident, wait_for
from nats.aio.client import Client
from nats.aio.msg import Msg

from tests.e2e.pipeline.ledger import read_ledger
from tests.e2e.pipeline.senders import Senders, order_for
from tests.support.counting_vendor import CountingVendor
from tests.support.nats import NatsServer, running_nats
from tests.support.postgres import TestDatabase
from tests.support.prepared_house import prepared_house
from tests.support.running import run_tidings, wait_until
from tidings.kernel.clock import SystemClock
from tidings.sandbox import Sandbox
from tidings.sandbox.faults import FaultSpec

pytestmark = pytest.mark.xdist_group("surviving")

IN_FLIGHT = int(os.environ.get("TIDINGS_TEST_IN_FLIGHT", "1000"))
SEED = int(os.environ.get("TIDINGS_TEST_SEED", "7"))
HOLD = 0.04
LADDER = [{"channel": "email", "deadline_seconds": 30}, {"channel": "sms", "deadline_seconds": 30}]


@contextlib.contextmanager
def spying(vendor: CountingVendor, server: NatsServer) -> Iterator[list[bytes]]:
    """All that the broker carries."""
    carried: list[bytes] = []

    async def note(message: Msg) -> None:
        carried.append(message.data)

    async def listen() -> Client:
        spy = await nats.connect(server.url().reveal())
        await spy.subscribe(">", cb=note)
        await spy.flush()
        return spy

    spy = vendor.run(listen())
    try:
        yield carried
    finally:
        vendor.run(spy.close())


def test_the_whole_way_in_two_processes() -> None:
    """Delivered, also over several steps; explained as always; and the broker has read no address."""
    # Its loop hosts the sandbox.
    with CountingVendor() as loop, running_nats() as server, spying(loop, server) as carried:
        sandbox = loop.run(_open(Sandbox(SystemClock(), seed=1)))
        http = {
            "url": f"{sandbox.url}/http/messages",
            "message_id_path": "id",
            "error_code_path": "error.code",
        }
        vendors: dict[str, dict[str, object]] = {
            "smtp": {"host": sandbox.host, "port": sandbox.smtp_port, "security": "none"},
            "http": {**http, "error_reason_path": "error.message"},
        }
        with prepared_house(
            workers=0,
            apart=("notify", "router"),
            vendors=vendors,
            extra={"TIDINGS_BUS_URL": server.url().reveal()},
        ) as house:
            resident = house.resident("apart")
            plain = _send(house, resident, order_for("plain-laila"))
            _await_status(house, resident, plain, "delivered")
            assert len(sandbox.store.find(to="plain-laila@example.test")) == 1

            sandbox.faults.set(FaultSpec(adapter="smtp", mode="reject_permanent", count=1))
            number = "+93700120042"
            person = {
                "identity": {"type": "guest", "id": "g-steps"},
                "addresses": [
                    {"channel": "email", "address": "steps-laila@example.test"},
                    {"channel": "sms", "address": number},
                ],
            }
            _post(house, resident, "/api/v1/router/policies", {"use_case": "otp", "ladder": LADDER})
            steps = _send(
                house,
                resident,
                {"recipient": person, "template": "otp", "variables": {"code": "482915"}, "channel": "auto"},
            )
            story = _await_status(house, resident, steps, "delivered")
            assert [one["channel"] for one in story["attempts"]] == ["email", "sms"]
            assert len(sandbox.store.find(to=number)) == 1
        loop.run(sandbox.__aexit__(None, None, None))
    assert carried
    wire = b"\n".join(carried)
    assert not any(text in wire for text in (b"laila", b"Laila", b"example.test", b"93700120042", b"482915"))


def test_killed_on_either_side_and_between_them_each_outcome_comes_once() -> None:
    """Every 202 arrives; what arrived twice is listed as never answered; each has one execution and one outcome."""
    luck = random.Random(SEED)
    with (
        running_nats() as server,
        CountingVendor(seed=SEED, hold=HOLD) as vendor,
        prepared_house(
            workers=0,
            apart=("notify", "router", "notify", "router"),
            vendors={"smtp": {"host": "127.0.0.1", "port": vendor.port, "security": "none"}},
            extra={"TIDINGS_BUS_URL": server.url().reveal()},
        ) as house,
    ):
        resident = house.resident("killed-apart")
        senders = Senders(house.base_url, resident, count=IN_FLIGHT)
        sending = vendor.begin(senders.send_all())
        victims = ["notify", "router", "nats", "both"]
        luck.shuffle(victims)
        for place, victim in enumerate(victims):
            goal = IN_FLIGHT * (place + luck.random()) / (len(victims) + 1)
            _await_count(vendor, goal)
            _kill(house, server, victim, luck)
        wait_for(sending.done, "all to be accepted", 300)
        sending.result()
        sent = set(senders.accepted.values())
        assert len(sent) == IN_FLIGHT

        def over() -> bool:
            ledger = read_ledger(house.postgres.url("tidings_owner"))
            return all(ledger.statuses[id_] == "delivered" for id_ in sent) and not any(
                ledger.waiting.values()
            )

        wait_until(over, f"everything to be over\n{_logs(house)}", 300)
        ledger = read_ledger(house.postgres.url("tidings_owner"))
        twice = {id_ for id_, moments in vendor.came.items() if len(moments) > 1}
        print(  # noqa: T201  # figures of the run, shown with -s
            f"\n{IN_FLIGHT} sent; seed {SEED}, killed: {victims}; arrived {vendor.count}, of them twice {len(twice)}; "
            f"never learned {len(ledger.never_learned)}"
        )
        assert sent <= set(vendor.came), "lost"
        assert twice <= ledger.never_learned
        assert {ledger.proofs[id_] for id_ in sent} == {1}
        assert sum(ledger.proofs.values()) == len(sent)
        assert ledger.executions == ledger.proofs
        assert ledger.dead_letters == 0


def test_without_a_broker_it_says_what_to_set(fresh_database: TestDatabase, tmp_path: Path) -> None:
    over = {
        "TIDINGS_DATABASE_URL": fresh_database.runtime_url,
        "TIDINGS_DATA_DIR": str(tmp_path / "data"),
    }
    ended = run_tidings("work", "--only", "router", **over)
    assert ended.returncode != 0
    [line] = [line for line in ended.stderr.splitlines() if line.strip()]
    assert "TIDINGS_BUS_URL=nats://" in line


def _await_count(vendor: CountingVendor, goal: float) -> None:
    wait_for(lambda: vendor.count >= goal, f"{goal:.0f} to arrive", 300)


async def _open(sandbox: Sandbox) -> Sandbox:
    return await sandbox.__aenter__()


def _kill(house: House, server: NatsServer, victim: str, luck: random.Random) -> None:
    """Killed, and started again at once, as a process manager does."""
    if victim == "nats":
        server.kill()
        server.start()
        return
    # In the order of `apart`.
    of = {"notify": house.workers[0::2], "router": house.workers[1::2]}
    programs = [luck.choice(of[victim])] if victim != "both" else house.workers
    for program in programs:
        program.kill()
    for program in programs:
        program.launch()


def _logs(house: House) -> str:
    return "\n".join(program.output[-3000:] for program in house.programs)


def _post(house: House, resident: Resident, path: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        f"{house.base_url}{path}",
        data=json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {resident.api_key}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise AssertionError(error.read().decode()) from None


def _send(house: House, resident: Resident, body: dict[str, Any]) -> str:
    return str(_post(house, resident, "/api/v1/notifications", body)["id"])


def _await_status(house: House, resident: Resident, id_: str, status: str) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def so() -> bool:
        told = house.get(resident, f"/api/v1/notifications/{id_}/explain")
        assert isinstance(told, dict)
        found.clear()
        found.update(told)
        return bool(told["notification"]["status"] == status)

    try:
        wait_until(so, status)
    except AssertionError:
        raise AssertionError(f"{found}\n{_logs(house)}") from None
    return found
