"""The Postgres that Tidings brings along and runs inside its data dir."""

from tidings.operations.embedded.bundled import EmbeddedPostgresError
from tidings.operations.embedded.data_dir import DataDir, DataDirError
from tidings.operations.embedded.server import EmbeddedPostgres
from tidings.operations.embedded.supervisor import PostgresSupervisor

__all__ = ["DataDir", "DataDirError", "EmbeddedPostgres", "EmbeddedPostgresError", "PostgresSupervisor"]
