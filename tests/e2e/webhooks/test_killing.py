"""Webhooks whose workers are killed (`kill -9`) in the middle, again and again."""

import json
import os
import random
import threading
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest
from bench.house import House, Resident, wait_for

from tests.support.prepared_house import prepared_house
from tests.support.running import wait_until
from tests.support.system import LOOPBACK

pytestmark = pytest.mark.xdist_group("surviving")

EVENTS = int(os.environ.get("TIDINGS_TEST_WEBHOOK_EVENTS", "3000"))
SEED = int(os.environ.get("TIDINGS_TEST_SEED", "7"))
KEYS = 30
KILLS = 4
_SET = 500


class _Endpoint(BaseHTTPRequestHandler):
    """Takes every call, and remembers it by its path."""

    protocol_version = "HTTP/1.1"
    heard: ClassVar[dict[str, list[tuple[str, str]]]] = defaultdict(list)
    lock: ClassVar[threading.Lock] = threading.Lock()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.lock:
            self.heard[self.path].append((body["data"]["event_id"], body["data"]["subject"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing of it is shown."""


class _Server(ThreadingHTTPServer):
    """Says nothing of connections that end when a worker is killed."""

    def handle_error(self, *_: Any) -> None:
        """They end."""


@contextmanager
def _endpoints() -> Iterator[int]:
    _Endpoint.heard.clear()
    server = _Server(("127.0.0.1", 0), _Endpoint)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def test_every_event_arrives_and_order_is_kept_however_often_workers_are_killed() -> None:
    """At least once each; where order is asked for, an event is first heard when those before it were."""
    luck = random.Random(SEED)
    with (
        _endpoints() as port,
        prepared_house(workers=2, vendors={}, extra={"TIDINGS_TENANT_NETWORKS": LOOPBACK}) as house,
    ):
        resident = house.resident("told")
        for path, ordered in (("/ordered", True), ("/quick", False)):
            wish = {
                "url": f"http://127.0.0.1:{port}{path}",
                "events": ["event.received.v1"],
                "ordered": ordered,
                "max_in_flight": 20,
            }
            _post(house, resident, "/api/v1/webhooks", wish)
        sent = _send(house, resident)

        for number in range(KILLS):
            goal = 2 * EVENTS * (number + 0.2 + 0.6 * luck.random()) / (KILLS + 1)
            wait_for(lambda goal=goal: _heard() >= goal, f"{goal:.0f} to arrive", 300)  # type: ignore[misc]
            for worker in house.workers:
                worker.kill()
                worker.launch()
        wait_until(lambda: _missing(sent) == 0, "everything to arrive", 300)

    quick, ordered_calls = _Endpoint.heard["/quick"], _Endpoint.heard["/ordered"]
    assert len(quick) >= EVENTS
    by_key: dict[str, list[str]] = defaultdict(list)
    for event_id, subject in ordered_calls:
        if event_id not in by_key[subject]:
            by_key[subject].append(event_id)
        else:
            # Told again: no later one of its key was told before it was known to be taken.
            assert by_key[subject][-1] == event_id
    assert by_key == sent


def _send(house: House, resident: Resident) -> dict[str, list[str]]:
    """The events in their order, by what they are about; their ids."""
    sent: dict[str, list[str]] = defaultdict(list)
    for first in range(0, EVENTS, _SET):
        events: list[dict[str, Any]] = [
            {
                "specversion": "1.0",
                "id": f"e-{number}",
                "source": "/test",
                "type": "thing.moved",
                "subject": f"thing-{number % KEYS}",
                "data": {},
            }
            for number in range(first, first + _SET)
        ]
        answer = _post(house, resident, "/api/v1/events/batch", {"events": events})
        for event, result in zip(events, answer["results"], strict=True):
            sent[event["subject"]].append(result["id"])
    return sent


def _heard() -> int:
    return sum(len({event_id for event_id, _ in calls}) for calls in list(_Endpoint.heard.values()))


def _missing(sent: dict[str, list[str]]) -> int:
    all_ids = {event_id for ids in sent.values() for event_id in ids}
    return sum(
        len(all_ids - {event_id for event_id, _ in _Endpoint.heard[path]}) for path in ("/ordered", "/quick")
    )


def _post(house: House, resident: Resident, path: str, body: object) -> Any:
    headers = {"Authorization": f"Bearer {resident.api_key}", "Content-Type": "application/json"}
    request = urllib.request.Request(
        f"{house.base_url}{path}", data=json.dumps(body).encode(), headers=headers, method="POST"
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)
