"""Can one tenant's templates hurt another's one-time codes? Quiet, under attack, and after everything was killed.

`python -m bench.hostile` (minutes) sends one tenant's critical mails while another queues messages that run as long as a
message may, and validates drafts that a parser stumbles over, by four connections at once. Then API and worker are killed
and started again twice on the same data: with an empty queue, and with more such messages in it and all attacks going on.
"""

import asyncio
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

from bench.fairness import Beside, open_sink, percentile, send_urgent
from bench.house import House, Resident, wait_for
from bench.load import Connection, request
from bench.sink import Sink

MEASURED = 200
QUEUED = 60
_TEMPLATES = "/api/v1/templates"
_PAGE = os.sysconf("SC_PAGE_SIZE")


def _version(body: str, format_: str = "html", **variables: Any) -> dict[str, Any]:
    return {
        "category": "transactional",
        "semver": "1.0.0",
        "variables_schema": {"type": "object", "properties": {name: {} for name in variables}},
        "preview_samples": {"usual": variables},
        "locales": {"en": {"format": format_, "subject": "x", "body": body}},
    }


#: Blocks in a loop: the sample is short, what is sent is not.
_LOOP = _version("<p>{{#each items}}" + "{{#if a}}{{/if}}" * 1000 + "{{/each}}x</p>", items=[1], a="")
#: Elements that a parser nests, a path that a parser reads for seconds, elements that a parser multiplies.
_DRAFTS = {
    "nested": _version(
        "<mjml><mj-body>" + "<li>" * 7000 + "x" + "</li>" * 7000 + "</mj-body></mjml>", "mjml"
    ),
    "path": _version("<p>{{" + "a." * 90_000 + "a}}</p>", a="x"),
    "bold": _version("".join(f"<p><b id=a{n}>x</p>" for n in range(1500))),
    "blocks": _version("<p>" + "{{#if a}}{{a}}{{/if}}" * 9000 + "</p>", a="x"),
}


def measure(measured: int = MEASURED) -> dict[str, float]:
    """The p50 and p99 of a critical message from POST to vendor, and the most memory. Call it in the main thread."""
    with Beside() as beside:
        sink = beside.run(open_sink())
        account: dict[str, object] = {"host": "127.0.0.1", "port": sink.port, "security": "none"}
        with House(workers=1, vendors={"smtp": account}) as house:
            hostile, urgent = house.resident("hostile"), house.resident("urgent")
            house.publish(hostile, "loop", "email", _LOOP)
            viewer = beside.run(_write_drafts(house, hostile))
            beside.run(send_urgent(house, urgent, sink, measured // 4, "warm"))
            found = _figures("quiet", beside.run(send_urgent(house, urgent, sink, measured, "quiet")))
            found |= _attacked(
                name="attacked",
                beside=beside,
                house=house,
                hostile=hostile,
                viewer=viewer,
                urgent=urgent,
                sink=sink,
                measured=measured,
            )
            # What a start costs by itself, so that the attack after one is compared with the like.
            _kill_and_start(house)
            found |= _figures("started", beside.run(send_urgent(house, urgent, sink, measured, "started")))
            beside.run(_queue(house, hostile, "again"))
            _kill_and_start(house)
            found |= _attacked(
                name="restarted",
                beside=beside,
                house=house,
                hostile=hostile,
                viewer=viewer,
                urgent=urgent,
                sink=sink,
                measured=measured,
            )
            found["hostile_left_in_queue"] = float(_still_queued(house, hostile))
            beside.run(sink.__aexit__(None, None, None))
    found["hostile_attacked_p99_ratio"] = found["hostile_attacked_p99_ms"] / found["hostile_quiet_p99_ms"]
    found["hostile_restarted_p99_ratio"] = found["hostile_restarted_p99_ms"] / found["hostile_started_p99_ms"]
    return found


def _kill_and_start(house: House) -> None:
    for program in house.programs:
        program.kill()
    house.revive()
    wait_for(house.is_ready, "the API after it was killed")


def _figures(name: str, took: list[float]) -> dict[str, float]:
    return {
        f"hostile_{name}_p50_ms": percentile(took, 0.5) * 1000,
        f"hostile_{name}_p99_ms": percentile(took, 0.99) * 1000,
        f"hostile_{name}_max_ms": max(took) * 1000,
    }


def _attacked(
    *,
    beside: Beside,
    house: House,
    hostile: Resident,
    viewer: str,
    urgent: Resident,
    sink: Sink,
    measured: int,
    name: str,
) -> dict[str, float]:
    async def both() -> tuple[list[float], int]:
        stop = asyncio.Event()
        loops = [asyncio.create_task(_validate(house, viewer, key, stop)) for key in _DRAFTS]
        await _queue(house, hostile, name)
        took = await send_urgent(house, urgent, sink, measured, name)
        stop.set()
        return took, sum(await asyncio.gather(*loops))

    with _Memory(house) as memory:
        took, answers = beside.run(both())
    return _figures(name, took) | {
        f"hostile_{name}_answers": float(answers),
        f"hostile_{name}_most_mb": memory.most / 1e6,
    }


async def _write_drafts(house: House, hostile: Resident) -> str:
    """The drafts, and a key that may only read: it is enough to have them validated."""
    connection = await Connection.open(house.base_url)
    for key, version in _DRAFTS.items():
        body = json.dumps(version).encode()
        path = f"{_TEMPLATES}/{key}/email/versions"
        status, answer = await connection.ask(request(house.base_url, path, hostile.api_key, body))
        assert status == 201, (key, status, answer[:300])
    wish = json.dumps({"name": "viewer", "role": "tenant.viewer"}).encode()
    status, answer = await connection.ask(request(house.base_url, "/api/v1/api-keys", hostile.api_key, wish))
    assert status == 201, (status, answer[:300])
    connection.close()
    return str(json.loads(answer)["api_key"])


async def _validate(house: House, viewer: str, key: str, stop: asyncio.Event) -> int:
    """Again and again, as fast as answers come; how many came."""
    path = f"{_TEMPLATES}/{key}/email/versions/1.0.0/validate"
    connection, answers = await Connection.open(house.base_url), 0
    while not stop.is_set():
        status, answer = await connection.ask(request(house.base_url, path, viewer, b""))
        assert status in (200, 429), (key, status, answer[:300])
        answers += 1
        # A refusal is cheap; without a pause the API's own limit would be measured.
        await asyncio.sleep(0.05 if status == 429 else 0)
    connection.close()
    return answers


async def _queue(house: House, hostile: Resident, mark: str) -> None:
    connection = await Connection.open(house.base_url)
    for number in range(QUEUED):
        order = {
            "recipient": {
                "identity": {"type": "guest", "id": f"h-{mark}-{number}"},
                "addresses": [{"channel": "email", "address": f"h-{mark}-{number}@example.test"}],
            },
            "template": "loop",
            "channel": "email",
            "priority": "critical",
            "variables": {"items": [0] * 19_000},
        }
        wire = request(house.base_url, "/api/v1/notifications", hostile.api_key, json.dumps(order).encode())
        status, answer = await connection.ask(wire)
        assert status == 202, (status, answer[:300])
    connection.close()


def _still_queued(house: House, hostile: Resident) -> int:
    deadline = time.monotonic() + 60
    while True:
        page: Any = house.get(hostile, "/api/v1/notifications?limit=200")
        waiting = [one for one in page["items"] if one["status"] in ("queued", "scheduled")]
        if not waiting or time.monotonic() > deadline:
            return len(waiting)
        time.sleep(0.5)


class _Memory:
    """The most that API, worker and their children had in memory together."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.most = 0

    def __enter__(self) -> "_Memory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(5)

    def _look(self) -> None:
        while not self._stop.wait(0.2):
            whole = 0
            for program in self._house.programs:
                children = f"/proc/{program.pid}/task/{program.pid}/children"
                for pid in (program.pid, *_words(children)):
                    pages = _words(f"/proc/{pid}/statm")
                    whole += int(pages[1]) * _PAGE if pages else 0
            self.most = max(self.most, whole)


def _words(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="ascii").split()
    except OSError:
        return []


def main() -> None:
    """Measure and show."""
    print(f"{'load of the machine before, per core':36} {os.getloadavg()[0] / (os.cpu_count() or 1):>12.2f}")
    for name, value in measure().items():
        print(f"{name:36} {value:>12,.2f}")


if __name__ == "__main__":
    main()
