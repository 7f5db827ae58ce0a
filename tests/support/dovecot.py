"""Debian's Dovecot behind a door of our own, over TLS: any user, with the password hunter2, has a mailbox.

Dovecot's own login process looks for its parts where it is installed, and here it is unpacked; so the door greets, takes the
login and hands the connection over to Dovecot's `imap`, which does all the rest.
"""

import asyncio
import os
import pwd
import ssl
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

from tests.support.certificates import Certificate, make_certificate
from tests.support.real_mta.packages import environment, unpacked

_PROGRAM = "usr/lib/dovecot/imap"
_USER = "daemon"
_CONFIGURATION = """
base_dir = {folder}/run
log_path = {folder}/dovecot.log
libexec_dir = {root}/usr/lib/dovecot
ssl = no
default_internal_user = nobody
default_login_user = daemon
default_internal_group = mail
first_valid_uid = 1
mail_location = maildir:{folder}/%u
"""


@dataclass(frozen=True)
class Dovecot:
    """A running one."""

    port: int
    folder: Path
    certificate: Certificate

    def deliver(self, user: str, name: str, mail: bytes) -> None:
        """Put a mail into the user's inbox."""
        owner = pwd.getpwnam(_USER)
        box = self.folder / user / "new"
        box.mkdir(parents=True, exist_ok=True)
        (box / name).write_bytes(mail)
        for path in (box / name, box, box.parent):
            os.chown(path, owner.pw_uid, owner.pw_gid)

    def seen(self, user: str) -> dict[str, bool]:
        """The mails of the inbox, and whether each was seen."""
        box = self.folder / user
        found = [*(box / "new").glob("*"), *(box / "cur").glob("*")]
        return {path.name.partition(":")[0]: "S" in path.name.partition(":2,")[2] for path in found}


@asynccontextmanager
async def dovecot() -> AsyncIterator[Dovecot]:
    """One that runs meanwhile."""
    root = await asyncio.to_thread(unpacked, "dovecot-imapd", _PROGRAM)
    folder = Path(tempfile.mkdtemp(prefix="tidings-dovecot-"))
    owner = pwd.getpwnam(_USER)
    os.chown(folder, owner.pw_uid, owner.pw_gid)
    folder.chmod(0o755)
    certificate = make_certificate(folder / "tls")
    configuration = folder / "dovecot.conf"
    configuration.write_text(_CONFIGURATION.format(folder=folder, root=str(root).rstrip("/")))
    around = environment(root)
    around["LD_LIBRARY_PATH"] += f":{root}/usr/lib/dovecot"

    conversations: list[asyncio.Task[None]] = []

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        conversations.append(task)
        with suppress(OSError, asyncio.IncompleteReadError, ssl.SSLError):
            user, tag = await _logged_in(reader, writer)
            # What reads the configuration has a fixed place; the other way about it works from any folder.
            process = await asyncio.create_subprocess_exec(
                root / "usr/bin/doveconf", "-f", "service=imap", "-c", configuration, "-m", "imap", "-p", "-e",
                root / _PROGRAM,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                env={**around, "USER": user, "HOME": str(folder)}, user=_USER, group=owner.pw_gid,
            )  # fmt: skip
            assert process.stdin is not None
            assert process.stdout is not None
            assert (await process.stdout.readline()).startswith(b"* PREAUTH")
            writer.write(tag + b" OK Logged in\r\n")
            await asyncio.gather(_pass_on(reader, process.stdin), _pass_on(process.stdout, writer))
            await process.wait()

    server = await asyncio.start_server(greet, "127.0.0.1", 0, ssl=certificate.server_context())
    try:
        yield Dovecot(server.sockets[0].getsockname()[1], folder, certificate)
    finally:
        server.close()
        if conversations:
            await asyncio.wait(conversations, timeout=10)
        rmtree(folder, ignore_errors=True)


async def _logged_in(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, bytes]:
    writer.write(b"* OK ready\r\n")
    while True:
        tag, verb, *rest = (await reader.readuntil(b"\r\n")).split()
        if verb.upper() == b"CAPABILITY":
            writer.write(b"* CAPABILITY IMAP4rev1\r\n" + tag + b" OK done\r\n")
        elif verb.upper() == b"LOGIN" and rest[1] == b'"hunter2"':
            return rest[0].decode().strip('"'), tag
        else:
            writer.write(tag + b" NO [AUTHENTICATIONFAILED] Authentication failed.\r\n")


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
    writer.close()
