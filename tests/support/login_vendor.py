"""A mail server that looks at passwords: who logged in with which, and what came in by whom."""

import asyncio
import base64
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any


class LoginVendor:
    """Takes mail from whoever has one of its passwords."""

    def __init__(self) -> None:
        self.port = 0
        self.passwords: set[str] = set()
        #: Mails taken and logins, by password.
        self.mails: Counter[str] = Counter()
        self.logins: Counter[str] = Counter()
        self.refused = 0
        #: Connections that are logged in now, by password.
        self.open: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()

    def account(self, password: str, **more: Any) -> str:
        """The content of a secret that leads here."""
        settings = {
            "host": "127.0.0.1",
            "port": self.port,
            "security": "none",
            "auth_without_tls": True,
            "username": "post",
            "password": password,
            **more,
        }
        return json.dumps(settings)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        logged_in: list[str] = []
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await self._talk(reader, writer, logged_in)
        self.open.subtract(logged_in)
        writer.close()
        self._tasks.discard(task)

    async def _talk(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, logged_in: list[str]
    ) -> None:
        writer.write(b"220 vendor ESMTP\r\n")
        password = ""
        while True:
            line = (await reader.readuntil(b"\r\n")).decode().strip()
            verb = line[:4].upper()
            if verb == "EHLO":
                writer.write(b"250-vendor\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 AUTH PLAIN\r\n")
            elif verb == "AUTH":
                password = base64.b64decode(line.rpartition(" ")[2]).decode().rpartition("\0")[2]
                if password in self.passwords:
                    self.logins[password] += 1
                    self.open[password] += 1
                    logged_in.append(password)
                    writer.write(b"235 2.7.0 welcome\r\n")
                else:
                    self.refused += 1
                    password = ""
                    writer.write(b"535 5.7.8 no such user or password\r\n")
            elif verb == "DATA":
                writer.write(b"354 go ahead\r\n")
                await reader.readuntil(b"\r\n.\r\n")
                self.mails[password] += 1
                writer.write(b"250 2.0.0 queued as 4XyZabCdEf\r\n")
            elif verb == "QUIT":
                return
            else:
                writer.write(b"250 ok\r\n" if password else b"530 5.7.0 log in first\r\n")

    async def stop(self) -> None:
        """End what is open."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def login_vendor(*passwords: str) -> AsyncIterator[LoginVendor]:
    """Listening while the block runs; these passwords are good."""
    vendor = LoginVendor()
    vendor.passwords |= set(passwords)
    server = await asyncio.start_server(vendor.serve, "127.0.0.1", 0, limit=1 << 20)
    vendor.port = server.sockets[0].getsockname()[1]
    try:
        yield vendor
    finally:
        server.close()
        await vendor.stop()
