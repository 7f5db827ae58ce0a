"""Which services a process runs: both, as a rule, or one of them where they run apart."""

from typing import Final, Literal, LiteralString, TypeAlias

Service: TypeAlias = Literal["notify", "router"]
BOTH: Final[frozenset[Service]] = frozenset({"notify", "router"})

#: The schemas of each, beside the kernel's, which all share. The back office runs wherever notify does: its people use notify's API.
SCHEMAS: Final[dict[Service, tuple[LiteralString, ...]]] = {
    "notify": ("notification", "bff_backoffice"),
    "router": ("chan",),
}
