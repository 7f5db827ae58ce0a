"""The migration runner: plain SQL files, one ledger, one lock."""

from tidings.operations.migrations.compatibility import (
    SERVES,
    SchemaRange,
    check_servable,
    oldest_release,
)
from tidings.operations.migrations.discover import MIGRATIONS_FOLDER, Migration, Phase, discover
from tidings.operations.migrations.emergency_down import migrate_down
from tidings.operations.migrations.errors import MigrationError, RolesMissingError, SchemaTooNew, SchemaTooOld
from tidings.operations.migrations.history import Standing, State
from tidings.operations.migrations.progress import Event, Report
from tidings.operations.migrations.release import THIS_RELEASE, Release
from tidings.operations.migrations.retry_policy import LockRetryPolicy
from tidings.operations.migrations.roles import ROLES, roles_sql
from tidings.operations.migrations.runner import Outcome, migrate_up
from tidings.operations.migrations.schema_dump import SCHEMA_PATH, difference, dump_schema
from tidings.operations.migrations.status import Finding, check_files, check_schema, read_status

__all__ = [
    "MIGRATIONS_FOLDER",
    "ROLES",
    "SCHEMA_PATH",
    "SERVES",
    "THIS_RELEASE",
    "Event",
    "Finding",
    "LockRetryPolicy",
    "Migration",
    "MigrationError",
    "Outcome",
    "Phase",
    "Release",
    "Report",
    "RolesMissingError",
    "SchemaRange",
    "SchemaTooNew",
    "SchemaTooOld",
    "Standing",
    "State",
    "check_files",
    "check_schema",
    "check_servable",
    "difference",
    "discover",
    "dump_schema",
    "migrate_down",
    "migrate_up",
    "oldest_release",
    "read_status",
    "roles_sql",
]
