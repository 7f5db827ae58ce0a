"""Starts the sandbox of `tidings up` where it was the last time, so that addresses people noted down stay right."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from tidings.kernel.clock import Clock
from tidings.kernel.errors import NotConfiguredError
from tidings.sandbox import Sandbox
from tidings.settings import SandboxSettings

_OPTIONS = (
    "TIDINGS_SANDBOX_SMTP_PORT",
    "TIDINGS_SANDBOX_HTTP_PORT",
    "TIDINGS_SANDBOX_SMPP_PORT",
    "TIDINGS_SANDBOX_APNS_PORT",
)


@asynccontextmanager
async def running_sandbox(
    settings: SandboxSettings, previous: Mapping[str, Any], clock: Clock
) -> AsyncIterator[Sandbox | None]:
    """The sandbox until the end of the block; None where it is switched off."""
    if settings.switch == "off":
        yield None
        return
    sandbox = await _started(settings, previous, clock)
    try:
        yield sandbox
    finally:
        await sandbox.stop()


async def _started(settings: SandboxSettings, previous: Mapping[str, Any], clock: Clock) -> Sandbox:
    chosen = (settings.smtp_port, settings.http_port, settings.smpp_port, settings.apns_port)
    before = (
        _port(previous.get("smtp_port")),
        _port_of(previous.get("sandbox_url")),
        _port(previous.get("smpp_port")),
        _port(previous.get("apns_port")),
    )
    smtp, http, smpp, apns = (wished or last for wished, last in zip(chosen, before, strict=True))
    asked = (smtp, http, smpp, apns)
    try:
        return await _start(settings, asked, clock)
    except NotConfiguredError:
        if asked == chosen:
            raise
        # Another program has a port of last time; those that were asked for stay as they were asked for.
        return await _start(settings, chosen, clock)


async def _start(settings: SandboxSettings, ports: tuple[int, int, int, int], clock: Clock) -> Sandbox:
    sandbox = Sandbox(
        clock,
        smtp_port=ports[0],
        http_port=ports[1],
        smpp_port=ports[2],
        apns_port=ports[3],
        most_messages=settings.keep,
        most_bytes=settings.keep_mb * 1024 * 1024,
        options=_OPTIONS,
    )
    await sandbox.start()
    return sandbox


def _port(value: object) -> int:
    return value if isinstance(value, int) and 0 < value < 65536 else 0


def _port_of(url: object) -> int:
    try:
        return (urlsplit(url).port or 0) if isinstance(url, str) else 0
    except ValueError:
        return 0
