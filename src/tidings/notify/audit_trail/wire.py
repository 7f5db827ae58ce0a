"""Which rows of the audit are wanted."""

from typing import Annotated

from msgspec import Meta

from tidings.kernel.http.paging import PageQuery

Word = Annotated[str, Meta(min_length=1, max_length=300)]


class ListAudit(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which rows are wanted."""

    entity_type: Annotated[Word | None, Meta(description="Only this kind of thing: `api_key`, `tenant`.")] = (
        None
    )
    entity_id: Annotated[Word | None, Meta(description="Only the thing with this id.")] = None
