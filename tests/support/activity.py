"""Requests of operators, as the witness is told of them."""

from typing import Any

from tidings.backoffice.api.sessions_routes import sessions
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.operator_requests import OperatorRequest
from tidings.kernel.ids import TenantId


def a_request(tenant_id: TenantId | None, operator_id: str = "oper_1", **facts: Any) -> OperatorRequest:
    """Somebody asked who they are, and the database was away."""
    caller = Caller(
        kind="operator",
        id=operator_id,
        home=tenant_id,
        role="tenant.admin" if tenant_id is not None else "platform.support",
        scopes=frozenset(),
        environment="live",
        session_id="bos_1",
        device_id="dvc_1",
    )
    given: dict[str, Any] = {
        "operation": next(one for one in sessions.operations if one.name == "show_own_session"),
        "path_values": {},
        "location": None,
        "query_string": b"",
        "status": 503,
        "error_code": "database_unavailable",
        "property_id": None,
        "seconds": 0.25,
        "of_own_page": False,
        "of_open_page": False,
        **facts,
    }
    return OperatorRequest(caller=caller, **given)
