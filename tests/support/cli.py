"""Commands typed in this process, and the real API for them to call: on a loopback port, in a thread with a loop of its own."""

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.support.http import HttpWorld, http_over
from tests.support.people import unused
from tests.support.postgres import TestServer
from tests.support.system import system_over
from tidings.cli.main import main
from tidings.kernel.http.request_ids import Answered
from tidings.kernel.http.serve import HttpServer, address_of, listen
from tidings.kernel.ids import TenantId

T = TypeVar("T")


@dataclass(frozen=True)
class Printed:
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str


#: Types a command: the words after `tidings`.
Types = Callable[..., Printed]


def typing_in(
    house: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], **environment: str
) -> Types:
    """Commands that find their server and keys in the data dir `house`, or where the environment says."""
    for name in ("TIDINGS_URL", "TIDINGS_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (environment | {"TIDINGS_DATA_DIR": str(house)}).items():
        monkeypatch.setenv(name, value)

    def type_(*words: str) -> Printed:
        monkeypatch.setattr(sys, "argv", ["tidings", *words])
        capsys.readouterr()  # what was said before is not the command's
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        said = capsys.readouterr()
        return Printed(code, said.out, said.err)

    return type_


def write_demo(house: Path, url: str, *, key: str, platform_key: str) -> None:
    """What `tidings up` leaves in a data dir: where the server is, and with which keys it is called."""
    demo = {"base_url": url, "api_key": key, "platform_key": platform_key}
    (house / "demo.json").write_text(json.dumps(demo))


@dataclass(frozen=True, kw_only=True)
class ServedApi:
    """A running API over a database of its own."""

    url: str
    http: HttpWorld
    loop: asyncio.AbstractEventLoop

    @property
    def answered(self) -> list[Answered]:
        """Every request, in order."""
        return self.http.answered

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do this where the API runs."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

    def move_in(self, house: Path) -> TenantId:
        """A new tenant, whose key and the platform's lie in this data dir."""

        async def make() -> tuple[TenantId, str, str]:
            tenant = await self.http.tenant(f"t-{unused()}")
            async with self.http.db.tenant(tenant.id) as tx:
                await self.http.system.kernel.keyring.provision(tx)
            _, key = await self.http.key(tenant.id)
            _, platform_key = await self.http.key(None)
            return tenant.id, key, platform_key

        tenant_id, key, platform_key = self.run(make())
        write_demo(house, self.url, key=key, platform_key=platform_key)
        return tenant_id


@contextmanager
def served_api(server: TestServer, folder: Path) -> Iterator[ServedApi]:
    """The application of a `System`, served until the end of the block."""
    made: list[ServedApi] = []
    ready, stop = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with server.clone() as database, system_over(database, folder) as system:
            http = http_over(system)
            listener = listen("127.0.0.1", 0)
            serving = HttpServer(http.app, listener=listener, drain_seconds=1)
            await serving.start()
            made.append(ServedApi(url=address_of(listener), http=http, loop=asyncio.get_running_loop()))
            ready.set()
            await stop.wait()
            await serving.stop()

    def run() -> None:
        try:
            asyncio.run(serve())
        finally:
            ready.set()

    thread = threading.Thread(target=run, name="api")
    thread.start()
    ready.wait()
    assert made, "the API has not started"
    yield made[0]
    made[0].loop.call_soon_threadsafe(stop.set)
    thread.join()
