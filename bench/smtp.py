"""Mails built and handed over per second on loopback: ours, the standard library's, aiosmtplib's, and the raw limit.

`python -m bench.smtp`. The sandbox runs in a process of its own, so that two cores share the work as they do in use.
"""

import asyncio
import contextlib
import importlib.util
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime

import uvloop

from tidings.contracts.messages import Accepted, Address, OutboundMessage
from tidings.kernel.clock import SystemClock
from tidings.kernel.secrets import SecretsByScheme
from tidings.router.adapters.mail.mime import build
from tidings.router.adapters.registry import AdapterContext, open_adapter

COUNT = 6000
CONNECTIONS = 8
AIOSMTPLIB_CONNECTIONS = 32
_ROW = "<tr><td>Green tea</td><td>2</td><td>42.50</td></tr>\n"
_SERVE = """
import asyncio, sys, uvloop
from tidings.kernel.clock import SystemClock
from tidings.sandbox import Sandbox
async def main():
    async with Sandbox(SystemClock(), most_messages=1000) as sandbox:
        print(sandbox.smtp_port, sandbox.http_port, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
uvloop.run(main())
"""


def message(i: int) -> OutboundMessage:
    """3 KB of HTML and a text, in Dari."""
    return OutboundMessage(
        message_id=f"ntf_01JCQ8ZK6T9Y4M2V7N5B{i:06d}",
        tenant_id="tnt_01JCQ8ZK6T9Y4M2V7N5B3D1F0G",
        channel="email",
        sender=Address(value="orders@shop.example", name="دکان سبز"),
        to=f"laila.{i}@example.test",
        to_name="لیلا",
        subject=f"سفارش شما A-{i} تأیید شد",
        html='<html dir="rtl"><body><p>سلام لیلا</p><table>' + _ROW * 58 + "</table></body></html>",
        text="سلام لیلا\nسفارش شما تأیید شد.\n" * 8,
        list_unsubscribe=f"https://shop.example/u/{i}",
    )


@asynccontextmanager
async def sandbox() -> AsyncIterator[tuple[int, int]]:
    """Its ports."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _SERVE, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdin is not None
    smtp, http = (int(port) for port in (await process.stdout.readline()).split())
    try:
        yield smtp, http
    finally:
        process.stdin.close()
        await process.wait()


def _per_second(work: Callable[[], object], count: int) -> float:
    best = 0.0
    for _ in range(3):
        start = time.perf_counter()
        work()
        best = max(best, count / (time.perf_counter() - start))
    return best


async def _rate(work: Callable[[], Awaitable[object]], count: int) -> float:
    best = 0.0
    for _ in range(3):
        start = time.perf_counter()
        await work()
        best = max(best, count / (time.perf_counter() - start))
    return best


def _with_the_standard_library(given: OutboundMessage, at: datetime) -> bytes:
    mail = EmailMessage()
    mail["From"] = f'"{given.sender.name}" <{given.sender.value}>'
    mail["To"] = given.to
    mail["Subject"] = given.subject
    mail["Date"] = format_datetime(at)
    mail["Message-ID"] = f"<{given.message_id}@shop.example>"
    mail.set_content(given.text or "")
    mail.add_alternative(given.html or "", subtype="html")
    return mail.as_bytes()


def measure_building() -> dict[str, float]:
    """Mails per second, one core."""
    at = datetime.now(UTC)
    given = [message(i) for i in range(COUNT // 2)]
    few = given[:400]
    return {
        "mime_per_s": _per_second(lambda: [build(m, at=at).data() for m in given], len(given)),
        "mime_stdlib_per_s": _per_second(lambda: [_with_the_standard_library(m, at) for m in few], len(few)),
    }


async def _raw(port: int, data: bytes, count: int) -> None:
    """The limit: prepared bytes over eight sockets, one round trip each."""
    group = b"MAIL FROM:<a@b.test>\r\nRCPT TO:<c@d.test>\r\nDATA\r\n"

    async def one(share: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await reader.readline()
        writer.write(b"EHLO x\r\n")
        await reader.readuntil(b"250 AUTH PLAIN LOGIN\r\n")
        writer.write(group)
        await reader.readuntil(b"354 go ahead\r\n")
        for _ in range(share - 1):
            writer.write(data + b".\r\n" + group)
            await reader.readuntil(b"354 go ahead\r\n")
        writer.write(data + b".\r\n")
        await reader.readline()
        writer.close()

    await asyncio.gather(*(one(count // CONNECTIONS) for _ in range(CONNECTIONS)))


async def _aiosmtplib(port: int, data: bytes, count: int) -> None:
    import aiosmtplib

    async def one(share: int) -> None:
        client = aiosmtplib.SMTP(hostname="127.0.0.1", port=port, start_tls=False, use_tls=False)
        await client.connect()
        for _ in range(share):
            await client.sendmail("a@b.test", ["c@d.test"], data)
        with contextlib.suppress(aiosmtplib.SMTPException):
            await client.quit()

    await asyncio.gather(*(one(count // AIOSMTPLIB_CONNECTIONS) for _ in range(AIOSMTPLIB_CONNECTIONS)))


async def measure() -> dict[str, float]:
    """Everything, by name."""
    figures = measure_building()
    given = [message(i) for i in range(COUNT)]
    data = build(given[0], at=datetime.now(UTC)).data()
    around = AdapterContext(clock=SystemClock())
    async with sandbox() as (smtp_port, http_port):
        figures["smtp_raw_per_s"] = await _rate(lambda: _raw(smtp_port, data, COUNT), COUNT)
        for connections in (1, CONNECTIONS):
            settings: dict[str, object] = {"host": "127.0.0.1", "port": smtp_port, "security": "none"}
            adapter = await open_adapter(
                "smtp", {**settings, "connections": connections}, SecretsByScheme({}), surroundings=around
            )
            assert all(isinstance(outcome, Accepted) for outcome in await adapter.send(given[:100]))
            figures[f"smtp_adapter_{connections}_connections_per_s"] = await _rate(
                lambda adapter=adapter: adapter.send(given),  # type: ignore[misc]
                COUNT,
            )
            await adapter.close()
        if importlib.util.find_spec("aiosmtplib") is not None:
            few = COUNT // 4 // AIOSMTPLIB_CONNECTIONS * AIOSMTPLIB_CONNECTIONS
            figures["smtp_aiosmtplib_prepared_per_s"] = await _rate(
                lambda: _aiosmtplib(smtp_port, data, few), few
            )
        http = await open_adapter(
            "http",
            {"url": f"http://127.0.0.1:{http_port}/http/email", "message_id_path": "id"},
            SecretsByScheme({}),
            surroundings=around,
        )
        figures["http_adapter_per_s"] = await _rate(lambda: http.send(given), COUNT)
        await http.close()
    return figures


def main() -> None:
    """Measure and show."""
    for name, value in uvloop.run(measure()).items():
        print(f"{name:44} {value:>12,.0f}")


if __name__ == "__main__":
    main()
