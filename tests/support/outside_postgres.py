"""A Postgres that is none of ours: an administrator with a password, and nothing of Tidings in it."""

import contextlib
import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.running import wait_until
from tidings.operations.embedded.bundled import bundled_install
from tidings.operations.embedded.child import ENVIRONMENT, PostgresChild
from tidings.operations.embedded.placement import choose_user, place_programs

_PASSWORD = "of-the-administrator"


@dataclass(frozen=True, slots=True)
class OutsidePostgres:
    """Where it listens, and its programs."""

    port: int
    programs: Path

    @property
    def admin_url(self) -> str:
        """As its administrator."""
        return f"postgresql://postgres:{_PASSWORD}@127.0.0.1:{self.port}/postgres"


@contextlib.contextmanager
def outside_postgres() -> Iterator[OutsidePostgres]:
    """Started from the wheel's programs, with scram for everybody; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="tidings-outside-", ignore_cleanup_errors=True) as folder:
        place = Path(folder)
        place.chmod(0o711)
        cluster, secret = place / "cluster", place / "password"
        cluster.mkdir(mode=0o700)
        secret.write_text(_PASSWORD)
        user = choose_user(cluster)
        credentials: dict[str, Any] = (
            {} if user is None else {"user": user.uid, "group": user.gid, "extra_groups": []}
        )
        if user is not None:
            for mine in (cluster, secret):
                os.chown(mine, user.uid, user.gid)
        programs = place_programs(bundled_install(), user)
        subprocess.run(
            [
                str(programs / "bin" / "initdb"),
                f"--pgdata={cluster}",
                "--username=postgres",
                f"--pwfile={secret}",
                "--auth=scram-sha-256",
                "--no-instructions",
            ],
            cwd="/",
            env=ENVIRONMENT,
            check=True,
            capture_output=True,
            **credentials,
        )
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        options = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"]
        child = PostgresChild(
            [
                str(programs / "bin" / "postgres"),
                *("-D", str(cluster), "-p", str(port)),
                *(part for option in options for part in ("-c", option)),
            ],
            cluster=cluster,
            log=place / "log",
            credentials=credentials,
        )
        try:
            wait_until(lambda: child.is_ready, "the outside Postgres")
            yield OutsidePostgres(port, programs)
        finally:
            child.stop()
