"""What people find in the application itself."""

from functools import cached_property
from typing import TYPE_CHECKING

from tidings.bootstrap.counter_stripes import Stripe, stripe
from tidings.notify.inbox.act import ActionListeners
from tidings.notify.inbox.deliver import InboxDeliverer

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidings.bootstrap.access import AccessStage
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.notify import NotifyStage
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep
    from tidings.kernel.http.sockets import SocketRoute
    from tidings.notify.access.inbox_tokens import InboxTokens
    from tidings.notify.inbox.act import InboxActor
    from tidings.notify.inbox.change import InboxChanger
    from tidings.notify.inbox.due_items import DueItemsJob
    from tidings.notify.inbox_live.hub import InboxHub


class InboxStage:
    """The in-app inbox: stores items, and shows them to their readers."""

    def __init__(
        self,
        kernel: "KernelStage",
        access: "AccessStage",
        notify: "NotifyStage",
        *,
        listeners: "Callable[[], ActionListeners]",
    ) -> None:
        """`listeners`: who is told of chosen actions; asked for when the first is chosen."""
        self._kernel = kernel
        self._access = access
        self._parts = parts = notify.parts
        parts.add_late(ActionListeners, listeners)
        #: Stores what the router delivers.
        self.deliverer = parts.get(InboxDeliverer, metrics=access.metrics)

    @cached_property
    def changer(self) -> "InboxChanger":
        """Changes items, and tells what was read."""
        from tidings.notify.inbox.change import InboxChanger

        return self._parts.get(InboxChanger, metrics=self._access.metrics, stripe=stripe(Stripe.INBOX))

    @cached_property
    def tokens(self) -> "InboxTokens":
        """Who carries an inbox token."""
        from tidings.notify.access.inbox_tokens import InboxTokens

        return self._parts.get(InboxTokens)

    @cached_property
    def live(self) -> "InboxHub":
        """The live streams of this process."""
        from tidings.notify.inbox_live.hub import InboxHub, LiveLimits
        from tidings.notify.inbox_live.presence import InboxPresence
        from tidings.notify.inbox_live.read_news import LiveNewsReader

        http = self._kernel.settings.http
        return InboxHub(
            self._kernel.bus.wakeups,
            reader=self._parts.get(LiveNewsReader),
            gate=self._access.gate,
            clock=self._kernel.clock,
            metrics=self._access.metrics,
            presence=self._parts.get(InboxPresence),
            limits=LiveLimits(
                most=http.max_inbox_streams, most_of_a_tenant=http.max_inbox_streams_per_tenant
            ),
        )

    def sockets(self) -> "list[SocketRoute]":
        """The WebSockets that are served."""
        from tidings.kernel.http.callers import OWN_INBOX, Need
        from tidings.kernel.http.sockets import SocketRoute
        from tidings.notify.inbox.desk import InboxDesk
        from tidings.notify.inbox_live.socket import PROTOCOL, InboxSocket

        serves = InboxSocket(self.live, self._parts.get(InboxDesk), self._kernel.db, self._access.gate)
        need = Need(scope=OWN_INBOX, writes=False, operation="GET /api/v1/inbox/ws", test_keys=True)
        path = "/api/v1/inbox/ws"
        return [
            SocketRoute(path=path, protocol=PROTOCOL, need=need, serves=serves, query=frozenset({"after"}))
        ]

    @cached_property
    def due(self) -> "DueItemsJob":
        """Brings snoozed items back, and removes what has expired."""
        from tidings.notify.inbox.due_items import DueItems, DueItemsJob

        kernel, _ = self._kernel, self.changer
        due = self._parts.get(DueItems, metrics=self._access.metrics)
        return DueItemsJob(due, db=kernel.db, clock=kernel.clock, observed=kernel.metrics)

    @cached_property
    def actor(self) -> "InboxActor":
        """Takes the actions that people choose."""
        from tidings.notify.inbox.act import InboxActor

        return self._parts.get(InboxActor, metrics=self._access.metrics)

    def register(self) -> None:
        """The parts that handlers name."""
        from tidings.notify.inbox_live.hub import InboxHub

        _ = self.changer, self.tokens, self.actor
        self._parts.add(InboxHub, self.live)

    def jobs(self) -> "dict[str, Job]":
        """Snoozes that end, items that expire."""
        return {"inbox_due": self.due, **self.api_jobs()}

    def api_jobs(self) -> "dict[str, Job]":
        """What tells the streams of this process."""
        return {"inbox_live": self.live}

    def sweeps(self) -> "dict[str, Sweep]":
        """None: items go with the partition that they are in, once all of it has expired."""
        return {}
