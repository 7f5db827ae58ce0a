"""What HTTP calls to understand a notification: its trace, its body, and a simulation of one that was not sent."""

from typing import Any, Final

from litestar import Request, get, post

from tidings.contracts.ids import NOTIFICATION
from tidings.kernel.http.bodies import read_body, read_query
from tidings.kernel.http.callers import caller_of, tenant_of
from tidings.kernel.http.operations import deps_of, operation
from tidings.kernel.refusals import MissingScopeError
from tidings.notify.accept.order import OrderedBy
from tidings.notify.accept.wire import NotificationInput, order_of
from tidings.notify.notifications.accept_routes import EXAMPLE, TAG
from tidings.notify.notifications.asked_for import ID, asked_for
from tidings.notify.notifications.deps import Deps
from tidings.notify.notifications.explain_view import ExplainView
from tidings.notify.notifications.simulate_view import BodyView, SimulationView, simulation_view
from tidings.notify.notifications.view import ShowBody

_PATH: Final = {ID: NOTIFICATION}
#: Whoever may see people's addresses may see what was written to them.
_REVEAL: Final = "recipients:write"
#: Whoever may see people may see the names of guardians.
_NAMES: Final = "recipients:read"

AnyRequest = Request[Any, Any, Any]


@get(
    "/{notification_id:str}/explain",
    **operation(
        summary="Explain why somebody did, or did not, get this.",
        tag=TAG,
        scope="notifications:read",
        test_keys=True,
        path=_PATH,
        answer=ExplainView,
        problems=["notification_not_found"],
        description="What every gate said, what happened when, what comes next, and by which template, preferences and policy. Addresses are hints, and nothing of the message is in it; the name of a guardian needs `recipients:read`.",
    ),
)
async def explain_notification(request: AnyRequest) -> ExplainView:
    """Explain a notification."""
    notification_id = await asked_for(request)
    caller = caller_of(request)
    return await deps_of(request, Deps).explainer.explain(
        tenant_of(request), notification_id, role=caller.role, with_names=_NAMES in caller.scopes
    )


@get(
    "/{notification_id:str}/body",
    **operation(
        summary="Show what somebody was, or would be, written.",
        tag=TAG,
        scope="notifications:read",
        test_keys=True,
        path=_PATH,
        query=ShowBody,
        answer=BodyView,
        problems=["notification_not_found", "recipient_erased", "body_gone"],
        description="Rendered once more from the frozen template and the sealed variables; `exact` says whether it is proven to be what was sent. `channel` asks for the text of another step of the ladder. Needs `recipients:write` as well, and is audited.",
    ),
)
async def show_body(request: AnyRequest) -> BodyView:
    """Show a body."""
    notification_id = await asked_for(request)
    caller = caller_of(request)
    if _REVEAL not in caller.scopes:
        raise MissingScopeError(_REVEAL)
    shown = await deps_of(request, Deps).bodies.read(
        tenant_of(request),
        notification_id,
        channel=read_query(request, ShowBody).channel,
        role=caller.role,
        actor=caller.actor,
    )
    rendered = shown.rendered
    return BodyView(
        channel=shown.channel,
        subject=rendered.subject,
        text=rendered.text,
        html=rendered.html,
        locale=rendered.locale,
        direction=rendered.direction,
        exact=shown.exact,
        pictures=shown.pictures,
    )


@post(
    "/simulate",
    **operation(
        summary="Rehearse a notification: decide and render it, send and write nothing.",
        tag=TAG,
        scope="notifications:write",
        test_keys=True,
        writes=False,
        body=NotificationInput,
        answer=SimulationView,
        problems=["invalid_variables", "recipient_not_found", "recipient_erased"],
        description="Takes what `POST /` takes. A recipient who is not known yet is imagined. Rate limits are not taken from.",
        example=EXAMPLE,
    ),
)
async def simulate_notification(request: AnyRequest) -> SimulationView:
    """Simulate a notification."""
    wanted = await read_body(request, NotificationInput)
    by = OrderedBy(tenant_of(request), caller_of(request).role, is_test=True)
    return simulation_view(await deps_of(request, Deps).simulator.simulate(order_of(wanted, by)))


HANDLERS = [explain_notification, show_body, simulate_notification]
