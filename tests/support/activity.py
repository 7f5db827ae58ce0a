"""Requests of operators as the witness is told of them, and rows of the activity ledger."""

from datetime import datetime
from typing import Any

from tidings.backoffice.activity.model import Activity
from tidings.backoffice.api.sessions_routes import sessions
from tidings.backoffice.ids import ACTIVITY
from tidings.kernel.blobs.envelope import BlobError
from tidings.kernel.blobs.store import BlobStore
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.operator_requests import OperatorRequest
from tidings.kernel.ids import TenantId, time_of


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


def an_activity(tenant_id: TenantId | None, at: datetime) -> Activity:
    """Somebody has listed the operators."""
    id_ = ACTIVITY.new(at)
    return Activity(
        id=id_,
        tenant_id=tenant_id,
        occurred_at=time_of(id_),
        property_id="kabul",
        operator_id="oper_1",
        device_id="dvc_1",
        session_id="bos_1",
        category="operators",
        action="list_operators",
        resource_kind=None,
        resource_id=None,
        outcome="success",
        status=200,
        error_code=None,
        latency_ms=3,
        context_hash=None,
    )


def no_blobs() -> BlobStore:
    """A store that takes nothing."""
    raise BlobError("the disk is full")
