"""Every filter of a list says in the API's description what it is for."""

import msgspec
import pytest

from tidings.router.audit_trail.routes import ListRouterAudit
from tidings.router.callbacks.wire import CallbackQuery, RequestQuery
from tidings.router.executions_api.wire import ListExecutions
from tidings.router.policies.wire import ListPolicies
from tidings.router.profiles.wire import ListProfiles
from tidings.router.spend.wire import SpendQuery
from tidings.router.status_map.wire import ListStatusLines, ListUnknownCodes, ReapplyQuery


@pytest.mark.parametrize(
    "query",
    [
        CallbackQuery,
        ListExecutions,
        ListPolicies,
        ListProfiles,
        ListRouterAudit,
        ListStatusLines,
        ListUnknownCodes,
        ReapplyQuery,
        RequestQuery,
        SpendQuery,
    ],
)
def test_filters_are_described(query: type[msgspec.Struct]) -> None:
    _, parts = msgspec.json.schema_components([query])
    filters = parts[query.__name__]["properties"]

    assert {name for name, about in filters.items() if not about.get("description")} == set()
