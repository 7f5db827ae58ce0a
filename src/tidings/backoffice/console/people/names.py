"""What people are called, for lists that know their ids: one question for all of a page."""

from collections.abc import Iterable, Mapping
from typing import Final

from tidings.backoffice.console.people.list_page import name_of
from tidings.backoffice.console.visits import Visit

#: As many as the API tells at once.
_MOST: Final = 100


async def names_of(visit: Visit, recipient_ids: Iterable[str | None]) -> Mapping[str, str]:
    """Names by id; nobody's where the reader may not see people."""
    ids = list(dict.fromkeys(one for one in recipient_ids if one))[:_MOST]
    if not ids or not visit.may("recipients:read"):
        return {}
    found = await visit.api.get("/api/v1/recipients", ids=",".join(ids), limit=len(ids))
    return {one["id"]: name_of(one) for one in found["items"]}
