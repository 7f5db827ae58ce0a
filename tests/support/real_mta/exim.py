"""Debian's Exim 4, alone on loopback, with STARTTLS and a login (tidings, hunter2)."""

import os
import pwd
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.support.certificates import Certificate, make_certificate
from tests.support.free_port import free_port
from tests.support.real_mta.packages import environment, unpacked, user
from tests.support.real_mta.running import Mta, stop, wait_until_greeting

USER = "Debian-exim"
_PROGRAM = "usr/sbin/exim4"

_CONFIGURATION = """
primary_hostname = mx.example.test
domainlist local_domains = example.test
spool_directory = {folder}/spool
log_file_path = {folder}/log/%slog
pid_file_path = {folder}/exim.pid
exim_path = {program}
deliver_drop_privilege
daemon_smtp_ports = {port}
local_interfaces = 127.0.0.1
tls_advertise_hosts = *
tls_certificate = {folder}/tls/cert.pem
tls_privatekey = {folder}/tls/key.pem
auth_advertise_hosts = ${{if eq{{$tls_in_cipher}}{{}}{{}}{{*}}}}
smtputf8_advertise_hosts = *
acl_smtp_rcpt = rcpt
acl_smtp_data = data
host_lookup =
rfc1413_hosts =
message_size_limit = 2M
smtp_accept_max = 50
smtp_accept_queue_per_connection = 0
add_environment = {environment}
keep_environment =
{main}

begin acl
rcpt:
{rcpt}
  deny  message = 5.1.1 no such user
        local_parts = nobody
  defer message = 4.2.1 come back later
        local_parts = later
  accept authenticated = *
         domains = +local_domains
  deny  message = 5.7.1 log in first
data:
{data}
  accept

begin routers
{routers}
all:
  driver = accept
  domains = +local_domains
  transport = box

begin transports
{transports}
box:
  driver = appendfile
  directory = {folder}/mail
  maildir_format
  create_directory
  user = {user}
  group = {user}

begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = ${{if and{{{{eq{{$auth2}}{{tidings}}}}{{eq{{$auth3}}{{hunter2}}}}}}}}
  server_set_id = $auth2
"""


@contextmanager
def exim(
    *,
    main: str = "",
    rcpt: str = "",
    data: str = "",
    routers: str = "",
    transports: str = "",
    files: Mapping[str, str] | None = None,
) -> Iterator[tuple[Mta, Certificate]]:
    """A running one; what is given comes ahead of the rest of its section, with `{folder}` in it named.

    `files` are in that folder.
    """
    root = unpacked("exim4-daemon-light", _PROGRAM)
    user(USER)
    owner = pwd.getpwnam(USER)
    folder = Path(tempfile.mkdtemp(prefix="tidings-exim-"))
    certificate = make_certificate(folder / "tls")
    port = free_port()
    for path in (folder, folder / "spool", folder / "log", folder / "tls"):
        path.mkdir(exist_ok=True)
        os.chown(path, owner.pw_uid, owner.pw_gid)
    for path in (certificate.cert_file, certificate.key_file):
        os.chown(path, owner.pw_uid, owner.pw_gid)
    for name, text in (files or {}).items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o644)
    around = environment(root)
    configuration = folder / "exim.conf"
    configuration.write_text(
        _CONFIGURATION.format(
            folder=folder, port=port, user=USER, program=root / _PROGRAM,
            environment=" : ".join(f"{name}={value.replace(':', '::')}" for name, value in around.items()),
            **{
                name: text.replace("{folder}", str(folder))
                for name, text in {
                    "main": main, "rcpt": rcpt, "data": data, "routers": routers, "transports": transports,
                }.items()
            },
        )
    )  # fmt: skip
    configuration.chmod(0o644)
    process = subprocess.Popen(
        [root / _PROGRAM, "-C", str(configuration), "-bdf", "-q5m"],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=around,
    )
    try:
        wait_until_greeting(process, port, folder)
        yield Mta(port, folder), certificate
    finally:
        stop(process, folder)
