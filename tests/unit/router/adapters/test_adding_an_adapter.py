"""The adapter of docs/adding-an-adapter.md, as a package of somebody else's: installed, found, used."""

import json
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[4] / "docs" / "adding-an-adapter.md"

_USE = """
import asyncio, hmac, json
from dataclasses import replace
from datetime import UTC, datetime

from tests.support import played_http as http
from tests.support.vendors import MESSAGE, opened
from tidings.contracts.callback_forms import RawCallback
from tidings.router.adapters.registry import ADAPTERS

async def use():
    kind = ADAPTERS["acme"]
    sms = replace(MESSAGE, channel="sms", to="+93700123456")
    said = {}
    for name, answer in {
        "taken": http.answer("202 Accepted", b'{"id": "a-1"}'),
        "refused": http.answer("400 Bad Request", b'{"error": {"code": "E11", "text": "no such number"}}'),
        "stranger": http.answer("200 OK", b"<html>login</html>"),
    }.items():
        async with http.played_http(answer) as vendor:
            settings = {"api_url": f"http://127.0.0.1:{vendor.port}/v1", "token": "hunter2"}
            async with opened("acme", settings) as adapter:
                (said[name],) = await adapter.send([sms])
    body = b'{"id": "a-1", "status": "Delivered", "at": 1763208000}'
    proof = hmac.new(b"s", body, "sha256").hexdigest()
    request = RawCallback(headers={"x-acme-signature": [proof]}, body=body, received_at=datetime.now(UTC))
    found = await kind.callbacks.verify(request, {"secret": "s"})
    (event,) = kind.callbacks.read(request, {}).events
    print(json.dumps([*(type(one).__name__ for one in said.values()), type(found).__name__, event.status]))

asyncio.run(use())
"""


def test_the_documented_adapter_works_as_a_package(tmp_path: Path) -> None:
    """Its code stands in the page, in under 150 lines; an entry point is all that Tidings knows of it."""
    page = PAGE.read_text()
    assert len(page.splitlines()) < 150
    for name, code in re.findall(r"```python file=(\S+)\n(.*?)```", page, flags=re.DOTALL):
        (tmp_path / name).write_text(code)
    info = tmp_path / "acme_adapter-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-adapter\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)[0]
        .replace('[project.entry-points."tidings.adapters"]', "[tidings.adapters]")
        .replace('"', "")
    )

    ran = subprocess.run(
        [sys.executable, "-c", _USE],
        capture_output=True,
        text=True,
        check=False,
        cwd=PAGE.parents[1],
        env={"PYTHONPATH": f"{tmp_path}:{PAGE.parents[1]}", "PATH": "/usr/bin:/bin"},
        timeout=60,
    )

    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == ["Accepted", "Refused", "Unlearned", "VerifiedCallback", "delivered"]
