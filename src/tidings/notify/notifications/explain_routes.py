"""Operations to understand a notification: its trace, its body, and a simulation of one that was not sent."""

from typing import Final

from tidings.contracts.ids import NotificationId
from tidings.kernel.db import TenantTx
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import OpenTx
from tidings.kernel.http.resources import Resource
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import attributes, by_name
from tidings.kernel.refusals import MissingScopeError
from tidings.notify.accept.order import OrderedBy
from tidings.notify.accept.routes import EXAMPLE, TAG, SendLimit
from tidings.notify.accept.wire import NotificationInput, order_of
from tidings.notify.notifications.body import BodyReader
from tidings.notify.notifications.explain import Explainer
from tidings.notify.notifications.explain_view import ExplainView
from tidings.notify.notifications.routes import is_test
from tidings.notify.notifications.simulate import Simulator
from tidings.notify.notifications.simulate_view import BodyView, SimulationView, simulation_view
from tidings.notify.notifications.store import within_reach
from tidings.notify.notifications.view import ShowBody

explaining = Resource("notifications", at="/notifications", tag=TAG, scope="notifications")

#: The scope that may see people's addresses may see what was written to them.
_REVEAL: Final = "recipients:write"
#: The scope that may see people may see the names of guardians.
_NAMES: Final = "recipients:read"


@explaining.get("/{notification_id}/explain", test_keys=True, problems=["notification_not_found"])
async def explain_notification(
    open_tx: OpenTx[TenantTx],
    tenant_id: TenantId,
    notification_id: NotificationId,
    caller: Caller,
    explainer: Explainer,
) -> ExplainView:
    """Explain why somebody did, or did not, get this.

    What every gate said, what happened when, what comes next, and by which template, preferences and policy.
    Addresses are hints, and nothing of the message is in it; the name of a guardian needs `recipients:read`.
    """
    await _reach(open_tx, notification_id, caller)
    return await explainer.explain(
        tenant_id, notification_id, role=caller.role, with_names=_NAMES in caller.scopes
    )


@explaining.get(
    "/{notification_id}/body",
    test_keys=True,
    problems=["notification_not_found", "recipient_erased", "body_gone", "body_withheld"],
)
async def show_body(
    open_tx: OpenTx[TenantTx],
    tenant_id: TenantId,
    notification_id: NotificationId,
    query: ShowBody,
    caller: Caller,
    bodies: BodyReader,
) -> BodyView:
    """Show what somebody was, or would be, written.

    Rendered once more from the frozen template and the sealed variables; `exact` says whether it is proven to be what
    was sent. `channel` asks for the text of another step of the ladder. Needs `recipients:write` as well, and is
    audited.
    """
    await _reach(open_tx, notification_id, caller)
    if _REVEAL not in caller.scopes:
        raise MissingScopeError(_REVEAL)
    shown = await bodies.read(
        tenant_id, notification_id, channel=query.channel, role=caller.role, actor=caller.actor
    )
    return by_name(BodyView, shown.rendered, **attributes(shown, "channel exact pictures"))


@explaining.post(
    "/simulate",
    scope="notifications:write",
    body_limit=SendLimit,
    test_keys=True,
    writes=False,
    problems=["invalid_variables", "recipient_not_found", "recipient_erased"],
    example=EXAMPLE,
)
async def simulate_notification(
    tenant_id: TenantId, body: NotificationInput, caller: Caller, simulator: Simulator
) -> SimulationView:
    """Rehearse a notification: decide and render it, send and write nothing.

    Takes what `POST /` takes. A recipient who is not known yet is imagined. Rate limits are not taken from.
    """
    by = OrderedBy(tenant_id, caller.role, is_test=True)
    return simulation_view(await simulator.simulate(order_of(body, by)))


async def _reach(open_tx: OpenTx[TenantTx], notification_id: NotificationId, caller: Caller) -> None:
    if is_test(caller):
        async with open_tx() as tx:
            await within_reach(tx, notification_id, tests_only=True)
