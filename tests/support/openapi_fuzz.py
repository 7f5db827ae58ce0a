"""Requests made up from the OpenAPI document, against the whole application on a real Postgres, and what came of them.

`make fuzz` runs it for long; `tests/integration/http/test_made_up_requests.py` for a moment.
"""

import asyncio
import threading
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, events, from_schema
from schemathesis.schemas import BaseSchema

from tests.support.http import HttpWorld, http_world
from tests.support.postgres import TestServer
from tidings.kernel.db import Database
from tidings.kernel.http.serve import HttpServer, listen

ALLOWED = Path(__file__).with_name("openapi_fuzz_allowed.toml")
#: Who calls: a tenant, the platform, or the platform for a tenant.
Who = Literal["tenant", "platform", "platform_for_tenant"]
EVERYBODY: tuple[Who, ...] = ("tenant", "platform", "platform_for_tenant")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """The application on a port of this machine."""

    url: str
    document: dict[str, Any]
    tenant_id: str
    tenant_key: str
    platform_key: str


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A check that an answer did not pass."""

    check: str
    operation: str
    status: int
    title: str
    #: How to make the request again.
    curl: str = field(compare=False)
    #: What is wrong, and the answer itself.
    said: str = field(compare=False)


@dataclass(slots=True)
class Report:
    """What came of a run."""

    cases: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    operations: set[str] = field(default_factory=set)
    findings: dict[Finding, int] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def unargued(self) -> list[Finding]:
        """Findings that no entry of the list allows."""
        allowed = tomllib.loads(ALLOWED.read_text(encoding="utf-8"))["allowed"]
        return sorted(one for one in self.findings if not any(_covers(entry, one) for entry in allowed))

    def __str__(self) -> str:
        lines = [f"{self.cases} requests to {len(self.operations)} operations"]
        lines += [f"  {status}: {count}" for status, count in sorted(self.statuses.items())]
        by_check = Counter(one.check for one in self.findings)
        lines += [f"  {check}: {count} kinds of findings" for check, count in sorted(by_check.items())]
        for one in self.unargued():
            lines += ["", f"{one.check}: {one.operation} answered {one.status}: {one.title}"]
            lines += [f"  {one.curl[:1500]}", f"  {one.said}"]
        return "\n".join([*lines, *self.errors])


def _covers(entry: dict[str, Any], one: Finding) -> bool:
    return (
        entry["check"] == one.check
        and fnmatchcase(one.operation, entry["operation"])
        and one.status in entry.get("statuses", [one.status])
    )


@contextmanager
def served(server: TestServer) -> Iterator[Served]:
    """The application, on a loop and in a thread of its own: whoever makes requests up is not asynchronous."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="served", daemon=True)
    thread.start()
    cloned = server.clone()

    async def open_() -> tuple[Database, HttpServer, Served]:
        database = await cloned.__aenter__()
        db = Database(database.runtime_url)
        await db.open()
        world: HttpWorld = http_world(db)
        # As in a process that is told to stop: a stream of events is answered and ends, or it would last for minutes.
        stopping = asyncio.Event()
        stopping.set()
        for job in world.system.events.api_jobs().values():
            await job.run(stopping)
        tenant = await world.tenant()
        _, own = await world.key(tenant.id)
        _, platform = await world.key(None)
        listener = listen("127.0.0.1", 0)
        http = HttpServer(world.app, listener=listener, drain_seconds=1)
        await http.start()
        return (
            db,
            http,
            Served(
                url=f"http://127.0.0.1:{listener.getsockname()[1]}",
                document=world.app.openapi,
                tenant_id=tenant.id,
                tenant_key=own,
                platform_key=platform,
            ),
        )

    db, http, found = asyncio.run_coroutine_threadsafe(open_(), loop).result(120)
    try:
        yield found
    finally:

        async def close() -> None:
            await http.stop()
            await db.close()
            await cloned.__aexit__(None, None, None)

        asyncio.run_coroutine_threadsafe(close(), loop).result(120)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def make_up(to: Served, who: Who, *, most: int, seed: int, thorough: bool = False) -> Report:
    """Send up to `most` requests of each kind to every operation; `thorough`: and every case at a boundary."""
    headers = {"Authorization": f"Bearer {to.tenant_key if who == 'tenant' else to.platform_key}"}
    if who != "platform":
        # Another tenant's id would be refused before anything else is looked at.
        headers["X-Tenant-Id"] = to.tenant_id
    config = SchemathesisConfig.from_dict(
        {
            "seed": seed,
            "base-url": to.url,
            "headers": headers,
            "request-timeout": 60,
            "continue-on-failure": True,
            "generation": {
                "max-examples": most,
                "database": "none",
                "deterministic": True,
                "mode": "all",
                "no-shrink": True,
            },
            "phases": {
                "examples": {"enabled": True},
                "coverage": {"enabled": thorough},
                # What was answered before steers what comes next: more is found, and not the same twice.
                "fuzzing": {
                    "extra-data-sources": {"responses": thorough},
                    "error-feedback": {"enabled": thorough},
                },
                "stateful": {"enabled": False},
            },
        }
    )
    schema: BaseSchema = schemathesis.openapi.from_dict(to.document, config=config)
    internal = who == "platform"
    schema = schema.include(lambda context: context.operation.path.startswith("/internal") == internal)
    report = Report()
    for event in from_schema(schema).execute():
        if isinstance(event, events.ScenarioFinished):
            _read(event, report)
        elif isinstance(event, events.NonFatalError):
            report.errors.append(f"{event.label}: {event.value!r}")
        elif isinstance(event, events.FatalError):
            report.errors.append(repr(event.exception))
    return report


def _read(event: events.ScenarioFinished, report: Report) -> None:
    recorder = event.recorder
    report.operations.add(recorder.label)
    for one in recorder.interactions.values():
        report.cases += 1
        report.statuses[one.response.status_code if one.response is not None else 0] += 1
    for case_id, checks in recorder.checks.items():
        for check in checks:
            if check.status is Status.FAILURE and check.failure_info is not None:
                answer = recorder.interactions[case_id].response
                found = Finding(
                    check.name,
                    recorder.label,
                    answer.status_code if answer is not None else 0,
                    check.failure_info.failure.title,
                    check.failure_info.code_sample,
                    f"{check.failure_info.failure.message[:1000]}\n  {(answer.text or '')[:500] if answer else ''}",
                )
                report.findings[found] = report.findings.get(found, 0) + 1
