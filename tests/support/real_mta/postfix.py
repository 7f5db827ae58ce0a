"""Debian's Postfix, alone on loopback; everything it takes for its own domains ends in one box."""

import os
import pwd
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.support.free_port import free_port
from tests.support.real_mta.packages import environment, unpacked
from tests.support.real_mta.running import Mta, stop, wait_until_greeting

_MASTER = "usr/lib/postfix/sbin/master"
#: Users that every Debian has; Postfix wants two, and root to be neither.
_OWNER, _DELIVERS, _GROUP = "nobody", "daemon", "mail"
#: Root's, Postfix' own, and those for which a group of its own matters.
_QUEUES = (
    "active",
    "bounce",
    "corrupt",
    "defer",
    "deferred",
    "flush",
    "hold",
    "incoming",
    "private",
    "saved",
    "trace",
)
#: What its processes hear from the first of them.
_KEPT = ("MAIL_CONFIG", "MAIL_DEBUG", "MAIL_LOGTAG", "POSTLOG_SERVICE", "POSTLOG_HOSTNAME")

_SERVICES = """
127.0.0.1:{port} inet n - n - - smtpd
postlog   unix-dgram n - n - 1 postlogd
pickup    unix n - n 60 1 pickup
cleanup   unix n - n - 0 cleanup
qmgr      unix n - n 300 1 qmgr
rewrite   unix - - n - - trivial-rewrite
bounce    unix - - n - 0 bounce
defer     unix - - n - 0 bounce
trace     unix - - n - 0 bounce
verify    unix - - n - 1 verify
flush     unix n - n 1000? 0 flush
proxymap  unix - - n - - proxymap
smtp      unix - - n - - smtp
relay     unix - - n - - smtp
error     unix - - n - - error
retry     unix - - n - - error
discard   unix - - n - - discard
virtual   unix - n n - - virtual
anvil     unix - - n - 1 anvil
scache    unix - - n - 1 scache
tlsmgr    unix - - n 1000? 1 tlsmgr
"""


@contextmanager
def postfix(
    *,
    main: Mapping[str, str] | None = None,
    services: Sequence[str] = (),
    domains: Sequence[str] = ("example.test",),
    files: Mapping[str, str] | None = None,
) -> Iterator[Mta]:
    """A running one, with these parameters of main.cf and lines of master.cf besides, `{folder}` in them named.

    `files` are in that folder.
    """
    root = unpacked("postfix", _MASTER)
    folder = Path(tempfile.mkdtemp(prefix="tidings-postfix-"))
    folder.chmod(0o755)
    port = free_port()
    _make_folders(folder)
    for name, text in (files or {}).items():
        (folder / name).write_text(text)
    around = environment(root)
    parameters = {**_parameters(root, folder, domains, around), **(main or {})}
    lines = [f"{name} = {value}" for name, value in parameters.items()]
    (folder / "etc" / "main.cf").write_text(_named("\n".join(lines), folder) + "\n")
    given = _SERVICES.format(port=port) + "\n".join(services) + "\n"
    (folder / "etc" / "master.cf").write_text(_named(given, folder))
    process = subprocess.Popen(
        [root / _MASTER, "-c", str(folder / "etc"), "-d"],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=around,
    )
    try:
        wait_until_greeting(process, port, folder)
        yield Mta(port, folder)
    finally:
        stop(process, folder)


def _parameters(
    root: Path, folder: Path, domains: Sequence[str], around: Mapping[str, str]
) -> dict[str, str]:
    box = pwd.getpwnam(_DELIVERS)
    return {
        "compatibility_level": "3.6",
        "myhostname": "mx.example.test",
        "mydestination": "",
        "mynetworks": "127.0.0.0/8",
        "inet_interfaces": "127.0.0.1",
        "inet_protocols": "ipv4",
        "queue_directory": f"{folder}/spool",
        "data_directory": f"{folder}/data",
        "daemon_directory": f"{root}/usr/lib/postfix/sbin",
        "command_directory": f"{root}/usr/sbin",
        "shlib_directory": f"{root}/usr/lib/postfix",
        "mail_owner": _OWNER,
        "setgid_group": _GROUP,
        "default_privs": _DELIVERS,
        "maillog_file": f"{folder}/log/postfix.log",
        "maillog_file_prefixes": str(folder),
        "import_environment": " ".join([*_KEPT, *(f"{name}={value}" for name, value in around.items())]),
        "alias_maps": "",
        "local_recipient_maps": "",
        "virtual_mailbox_domains": ", ".join(domains),
        "virtual_mailbox_base": str(folder),
        "virtual_mailbox_maps": "static:mail/",
        "virtual_uid_maps": f"static:{box.pw_uid}",
        "virtual_gid_maps": f"static:{box.pw_gid}",
        "virtual_minimum_uid": "1",
        "smtp_dns_support_level": "disabled",
        "smtp_host_lookup": "native",
        "disable_dns_lookups": "yes",
        "default_process_limit": "20",
    }


def _make_folders(folder: Path) -> None:
    owner, box = pwd.getpwnam(_OWNER), pwd.getpwnam(_DELIVERS)
    for name in ("etc", "log", "spool", "spool/pid"):
        (folder / name).mkdir()
    (folder / "data").mkdir()
    os.chown(folder / "data", owner.pw_uid, owner.pw_gid)
    for name in (*_QUEUES, "public", "maildrop"):
        path = folder / "spool" / name
        path.mkdir()
        path.chmod(0o700)
        os.chown(path, owner.pw_uid, owner.pw_gid)
    (folder / "mail").mkdir()
    os.chown(folder / "mail", box.pw_uid, box.pw_gid)


def _named(text: str, folder: Path) -> str:
    return text.replace("{folder}", str(folder))
