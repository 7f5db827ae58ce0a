"""Notify and the router in different processes: hand-overs over the bus, steps by request and reply.

A stage asks here for the half that its process lacks; in a process of both it is made only where there is a broker, so that
processes of one service find it.
"""

from functools import cached_property
from typing import TYPE_CHECKING

from tidings.bootstrap.services import Service
from tidings.contracts.delivery_requests import (
    ENDED_EXECUTIONS,
    ENDED_OUTCOMES,
    PREPARE_STEPS,
    TAKEN_HAND_OVERS,
)
from tidings.contracts.inbox import DELIVER_ITEMS
from tidings.kernel.errors import NotConfiguredError
from tidings.kernel.requests import Requests

if TYPE_CHECKING:
    from tidings.bootstrap.executions import ExecutionsStage
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.notify import NotifyStage
    from tidings.bootstrap.router import RouterStage
    from tidings.contracts.delivery import InProcessRouter, StepPreparer
    from tidings.contracts.inbox import InboxDeliveries
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.http.health import Check
    from tidings.notify.dispatch.remote_router import RemoteRouterLedgers


class ApartStage:
    """What stands in for the service that runs elsewhere."""

    def __init__(self, kernel: "KernelStage", requests: Requests) -> None:
        self._kernel = kernel
        self.requests = requests

    def hand_over(self, notify: "NotifyStage") -> "InProcessRouter":
        """The router, for notify alone."""
        from tidings.notify.dispatch.hand_over import AnnouncedHandOver

        return notify.parts.get(AnnouncedHandOver)

    @cached_property
    def router_ledgers(self) -> "RemoteRouterLedgers":
        """What the router knows, for notify alone."""
        from tidings.notify.dispatch.remote_router import RemoteRouterLedgers

        return RemoteRouterLedgers(self.requests)

    def preparer(self, router: "RouterStage") -> "StepPreparer":
        """Notify, for the router alone."""
        from tidings.router.executions.remote_preparer import RemoteStepPreparer

        return router.parts.get(RemoteStepPreparer, requests=self.requests)

    def inboxes(self) -> "InboxDeliveries":
        """Notify's in-app inboxes, for the router alone."""
        from tidings.router.executions.remote_inboxes import RemoteInboxes

        return RemoteInboxes(requests=self.requests)

    def serve_inboxes(self, deliveries: "InboxDeliveries") -> None:
        """Store items for routers elsewhere."""
        from tidings.notify.inbox.requests import InboxRequests

        self.requests.serve(DELIVER_ITEMS, InboxRequests(deliveries).answer)

    def serve_steps(self, preparer: "StepPreparer") -> None:
        """Answer routers elsewhere."""
        from tidings.notify.dispatch.step_requests import StepRequests

        self.requests.serve(PREPARE_STEPS, StepRequests(preparer).answer)

    def serve_ledgers(self, executions: "ExecutionsStage") -> None:
        """Answer processes of notify elsewhere."""
        from tidings.router.executions.ended import StoredEnds
        from tidings.router.executions.ledger_requests import LedgerRequests

        ledgers = LedgerRequests(db=self._kernel.db, inbox=executions.request_taker, ends=StoredEnds())
        self.requests.serve(TAKEN_HAND_OVERS, ledgers.taken)
        self.requests.serve(ENDED_EXECUTIONS, ledgers.ended)
        self.requests.serve(ENDED_OUTCOMES, ledgers.outcomes)

    def jobs(self) -> "dict[str, Job]":
        """The connection that all of it goes over."""
        return {"requests": self.requests}

    def checks(self) -> "dict[str, Check]":
        """For `/readyz`."""
        return {"requests": self.requests.check}


def open_requests(kernel: "KernelStage", services: frozenset[Service]) -> Requests | None:
    """Where requests go; None in a process of both services without a broker. A `NotConfiguredError` where one is needed."""
    url, bus = kernel.settings.stores.bus_url, kernel.bus
    if url is not None and url.reveal() != "postgres:":
        from tidings.kernel.nats_bus.bus import NatsBus
        from tidings.kernel.nats_requests import NatsRequests

        if isinstance(bus, NatsBus):
            return NatsRequests(
                bus.connection,
                kernel.kms,
                installation=bus.stream_id,
                monotonic=kernel.clock.monotonic,
            )
    if len(services) > 1:
        return None
    raise NotConfiguredError(
        "--only needs a broker between notify and router: set TIDINGS_BUS_URL=nats://host:4222, for all processes"
    )
