"""Which rows of the router's audit are wanted."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from tidings.kernel.http.paging import PageQuery

#: What the router's audit speaks of.
EntityType: TypeAlias = Literal[
    "adapter_config",
    "callback",
    "circuit_breaker",
    "conversation",
    "fallback_policy",
    "inbound_message",
    "inbound_route",
    "profile",
    "status_map",
    "vendor_weight",
]
Word = Annotated[str, Meta(min_length=1, max_length=300)]


class ListRouterAudit(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which rows are wanted."""

    entity_type: Annotated[
        EntityType | None,
        Meta(
            description="Only this kind of thing; `callback` and `inbound_message` stand in the platform's own rows alone."
        ),
    ] = None
    entity_id: Annotated[Word | None, Meta(description="Only the thing with this id.")] = None
