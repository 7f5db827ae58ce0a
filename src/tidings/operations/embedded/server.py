"""Starts and stops one Postgres server in a data dir.

The server is our child and dies with us: the kernel sends it SIGINT (a fast, clean shutdown) when we are
killed, however that happens. It listens on loopback only, with scram passwords, and has no way in for its
superuser at all: roles and the database are made once in single-user mode, before the first start.
"""

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from tidings.operations.embedded.bundled import EmbeddedPostgresError, bundled_install
from tidings.operations.embedded.child import ENVIRONMENT, PostgresChild
from tidings.operations.embedded.data_dir import DataDir
from tidings.operations.embedded.leftover import end_leftover
from tidings.operations.embedded.placement import User, choose_user, place_cluster, place_programs

DATABASE: Final = "tidings"
OWNER: Final = "tidings_owner"
RUNTIME: Final = "tidings_runtime"
_ROLES_SQL = Path(__file__).parent.parent / "migrations" / "roles.sql"

#: Reasons not to start that go away: a dead server's last processes are ending, or a port was just taken.
_PASSING = ("still in use", "lock file", "could not create any TCP/IP sockets", "the database system is")

_SETTINGS = """
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
password_encryption = 'scram-sha-256'
max_connections = 120
shared_buffers = '128MB'
max_wal_size = '1GB'
# A plan that was made while a table was empty is the wrong one a thousand rows later: look often whether tables have grown.
autovacuum_naptime = '3s'
autovacuum_analyze_threshold = 200
autovacuum_analyze_scale_factor = 0.3
timezone = 'UTC'
log_timezone = 'UTC'
# A statement's parameters are people's addresses: never in the log.
log_parameter_max_length = 0
log_parameter_max_length_on_error = 0
log_statement = 'none'
log_min_error_statement = 'panic'
log_error_verbosity = 'terse'
"""
_ACCESS = f"""
# database   user          address        method
host  all    {OWNER}       127.0.0.1/32   scram-sha-256
host  all    {RUNTIME}     127.0.0.1/32   scram-sha-256
"""


class EmbeddedPostgres:
    """The server of one data dir."""

    def __init__(
        self, data_dir: DataDir, *, install: Path | None = None, options: dict[str, str] | None = None
    ) -> None:
        self._data_dir = data_dir
        self._install = install or bundled_install()
        self._options = options or {}
        self._child: PostgresChild | None = None
        self._said_before = 0
        self._user: User | None = None
        self._cluster = data_dir.postgres
        #: Where the programs are run from.
        self.programs = self._install
        #: Where it listens, once started.
        self.port = 0

    @property
    def log(self) -> Path:
        """What the server has to say."""
        return self._data_dir.path / "postgres.log"

    @property
    def pid(self) -> int | None:
        """The server's process, once started."""
        return self._child.pid if self._child else None

    @property
    def exit_code(self) -> int | None:
        """How the server ended; None while it runs."""
        return self._child.exit_code if self._child else None

    @property
    def is_ready(self) -> bool:
        """Whether it takes connections."""
        return self._child is not None and self._child.is_ready

    def url(self, role: str, database: str = DATABASE) -> str:
        """How to connect as one of our two login roles."""
        password = quote(self._data_dir.secret(f"{role}_password"), safe="")
        return f"postgresql://{role}:{password}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Make the cluster where there is none, then start it and wait until it takes connections."""
        try:
            self._start()
        except OSError as error:
            raise EmbeddedPostgresError(
                f"the database in {self._data_dir.path} can't be started: {error.strerror} ({error.filename})"
            ) from error

    def start_again(self) -> None:
        """Start it on the same port after it has ended by itself; returns before it `is_ready`."""
        self._launch()

    def _start(self) -> None:
        self._user = choose_user(self._data_dir.postgres)
        self.programs = place_programs(self._install, self._user)
        self._cluster = place_cluster(self._data_dir.postgres, self._user)
        if not (self._cluster / "PG_VERSION").exists():
            if self._preferred_port():
                raise EmbeddedPostgresError(
                    f"the database of {self._data_dir.path} was in {self._cluster} and is gone; "
                    "restore it there, or start anew with another --data-dir"
                )
            self._initialise()
        self._check_version()
        if (stubborn := end_leftover(self._cluster)) is not None:
            raise EmbeddedPostgresError(
                f"an earlier Postgres (pid {stubborn}) of {self._cluster} does not end"
            )
        deadline = time.monotonic() + 15
        while True:
            self.port = _free_port(self._preferred_port())
            if self._await_ready(self._launch()):
                try:
                    (self._data_dir.path / "postgres.port").write_text(str(self.port))
                except OSError:
                    self.stop()
                    raise
                return
            reason = self.last_words()
            if not any(passing in reason for passing in _PASSING) or time.monotonic() > deadline:
                raise EmbeddedPostgresError(f"Postgres did not start: {reason} (see {self.log})")
            time.sleep(0.1)

    def attach(self) -> None:
        """Find the server that another process of this data dir has started."""
        self.port = self._preferred_port()
        if not self.port:
            raise EmbeddedPostgresError(f"{self._data_dir.path} is being set up; try again in a moment")

    def stop(self) -> None:
        """Stop it cleanly; within ten seconds, or else at once (the next start then recovers)."""
        child, self._child = self._child, None
        if child is not None:
            child.stop()

    def _initialise(self) -> None:
        for abandoned in self._cluster.parent.glob(f"{self._cluster.name}.new*"):
            shutil.rmtree(abandoned, ignore_errors=True)
        # A name of our own: the initdb of a predecessor that was killed may still be writing to its draft.
        draft = self._cluster.with_name(f"{self._cluster.name}.new.{os.getpid()}")
        draft.mkdir(mode=0o700)
        try:
            self._fill(draft)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        if self._cluster.exists():
            self._cluster.rmdir()
        draft.rename(self._cluster)

    def _fill(self, draft: Path) -> None:
        if self._user:
            os.chown(draft, self._user.uid, self._user.gid)
        self._run(
            ["initdb", "--pgdata", str(draft), "--username=postgres", "--auth=reject", "--encoding=UTF8",
             "--locale=C", "--no-instructions"]
        )  # fmt: skip
        self._write(draft / "postgresql.auto.conf", _SETTINGS)
        self._write(draft / "pg_hba.conf", _ACCESS)
        passwords = "".join(
            f"ALTER ROLE {role} PASSWORD '{self._data_dir.secret(f'{role}_password')}';\n\n"
            for role in (OWNER, RUNTIME)
        )
        script = (
            f"{_ROLES_SQL.read_text()}\n\nALTER ROLE {OWNER} CREATEDB;\n\n{passwords}"
            f"CREATE DATABASE {DATABASE} OWNER {OWNER};\n\n"
            f"REVOKE ALL ON DATABASE {DATABASE} FROM PUBLIC;\n\n"
            f"GRANT CONNECT ON DATABASE {DATABASE} TO {RUNTIME};\n\n"
            f"REVOKE ALL ON DATABASE postgres FROM PUBLIC;\n\n"
            f"GRANT CONNECT ON DATABASE postgres TO {OWNER};\n\n"
            f"REVOKE ALL ON DATABASE template1 FROM PUBLIC;\n\n"
        )
        # -j: a statement ends at a semicolon followed by an empty line.
        self._run(["postgres", "--single", "-j", "-D", str(draft), "postgres"], stdin=script)

    def _check_version(self) -> None:
        have = (self._cluster / "PG_VERSION").read_text().strip()
        output = subprocess.run(
            [str(self.programs / "bin" / "postgres"), "--version"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        ours = output.split()[2].partition(".")[0]
        if have != ours:
            raise EmbeddedPostgresError(
                f"{self._cluster} was made by Postgres {have}, this Tidings brings {ours}: "
                "start the older Tidings, dump the database, and restore it into a new data dir"
            )

    def _preferred_port(self) -> int:
        try:
            return int((self._data_dir.path / "postgres.port").read_text())
        except (FileNotFoundError, ValueError):
            return 0

    def _launch(self) -> PostgresChild:
        self._said_before = self.log.stat().st_size if self.log.exists() else 0
        program = str(self.programs / "bin" / "postgres")
        options = [part for key, value in self._options.items() for part in ("-c", f"{key}={value}")]
        self._child = PostgresChild(
            [program, "-D", str(self._cluster), "-p", str(self.port), *options],
            cluster=self._cluster,
            log=self.log,
            credentials=self._as_user(),
        )
        return self._child

    def _await_ready(self, child: PostgresChild) -> bool:
        deadline = time.monotonic() + 120  # crash recovery after a busy day
        while time.monotonic() < deadline:
            if child.exit_code is not None:
                self._child = None
                return False
            if child.is_ready:
                return True
            time.sleep(0.01)
        self.stop()
        raise EmbeddedPostgresError(f"Postgres was not ready within two minutes; see {self.log}")

    def last_words(self) -> str:
        """Why it did not start, as it has put it."""
        with self.log.open("rb") as log:
            log.seek(self._said_before)
            lines = log.read().decode(errors="replace").splitlines()
        fatal = [line.partition("FATAL:")[2].strip() for line in lines if "FATAL:" in line]
        return fatal[-1] if fatal else (lines[-1] if lines else "it said nothing")

    def _run(self, command: list[str], *, stdin: str = "") -> None:
        program = str(self.programs / "bin" / command[0])
        done = subprocess.run(
            [program, *command[1:]],
            input=stdin.encode(),
            capture_output=True,
            cwd="/",
            env=ENVIRONMENT,
            check=False,
            **self._as_user(),
        )
        output = (done.stdout + done.stderr).decode(errors="replace")
        if done.returncode != 0 or "ERROR:" in output:
            # The script holds passwords, so only what the program says about itself is shown.
            said = [line for line in output.splitlines() if "PASSWORD" not in line]
            raise EmbeddedPostgresError(f"{command[0]} failed: {' / '.join(said[-3:]) or done.returncode}")

    def _as_user(self) -> dict[str, Any]:
        if self._user is None:
            return {}
        return {"user": self._user.uid, "group": self._user.gid, "extra_groups": []}

    def _write(self, file: Path, text: str) -> None:
        file.write_text(text)
        if self._user:
            os.chown(file, self._user.uid, self._user.gid)


def _free_port(preferred: int) -> int:
    for port in (preferred, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise EmbeddedPostgresError("no free port on 127.0.0.1")
