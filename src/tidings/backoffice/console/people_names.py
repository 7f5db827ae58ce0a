"""Who is behind the ids in `created_by` and the like, as far as whoever looks may know."""

from collections.abc import Mapping

from tidings.backoffice.console.own_api import ApiProblemError
from tidings.backoffice.console.visits import Visit


async def names_of_operators(visit: Visit) -> Mapping[str, str]:
    """Names of operators by their ids; one's own is always there."""
    names = {visit.caller.id: visit.reader.name}
    if visit.may("operators:read"):
        try:
            found = await visit.api.get("/bff/v1/operators", limit=200)
        except ApiProblemError:
            return names
        names |= {one["id"]: one["name"] for one in found["items"] if one["name"]}
    return names
