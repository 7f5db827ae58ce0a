"""Asking a vendor whether it takes our credentials, without sending anything."""

import json
import socket

import pytest

from tests.support.login_vendor import login_vendor
from tests.support.played_http import CLOSE, HANG, answer, played_http
from tests.support.vendors import http_settings, opened
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater


@pytest.mark.parametrize(("password", "kind"), [("one", Accepted), ("hunter22", Refused)])
async def test_smtp_logs_in_and_leaves(password: str, kind: type[Outcome]) -> None:
    async with (
        login_vendor("one") as vendor,
        opened("smtp", json.loads(vendor.account(password))) as adapter,
    ):
        checked = await adapter.check()

    assert isinstance(checked, kind)
    assert not vendor.mails
    assert "hunter22" not in repr(checked)


async def test_smtp_that_is_not_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        settings = {"host": "127.0.0.1", "port": taken.getsockname()[1], "security": "none"}
        async with opened("smtp", settings) as adapter:
            checked = await adapter.check()

    assert isinstance(checked, TryLater)


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        (answer("200 OK", b"{}"), Accepted),
        (answer("401 Unauthorized", b"hunter22"), Refused),
        (answer("403 Forbidden"), Refused),
        (answer("500 Oops"), TryLater),
        (CLOSE, TryLater),
        (HANG, TryLater),
    ],
)
async def test_http_asks_what_the_settings_name(part: bytes, kind: type[Outcome]) -> None:
    async with played_http(part) as played:
        settings = http_settings(
            played.port,
            check_url=f"http://127.0.0.1:{played.port}/account",
            headers={"Authorization": "Bearer {{secret.token}}"},
            secrets={"token": "hunter22"},
        )
        settings["timeout_seconds"] = 0.5
        async with opened("http", settings) as adapter:
            checked = await adapter.check()

    assert isinstance(checked, kind)
    assert "hunter22" not in repr(checked)
    head, body = played.heard[0]
    assert head.startswith("GET /account ")
    assert "Bearer hunter22" in head
    assert body == b""


async def test_http_without_a_question_is_not_asked() -> None:
    async with played_http(answer("200 OK")) as played, opened("http", http_settings(played.port)) as adapter:
        assert await adapter.check() is None

    assert played.heard == []
