"""The database roles that must exist before the first migration."""

from pathlib import Path
from typing import Final

#: Migrations run as this role, and it owns every schema.
OWNER_ROLE: Final = "tidings_owner"
#: Every role that a migration grants something to.
ROLES: Final = (
    "tidings_owner",
    "tidings_runtime",
    "tidings_worker",
    "tidings_platform",
    "tidings_breakglass",
)


def roles_sql() -> str:
    """The script that makes the roles; an administrator runs it, and may run it again."""
    return (Path(__file__).parent / "roles.sql").read_text(encoding="utf-8")
