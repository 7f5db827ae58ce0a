"""What people find in the application itself."""

from functools import cached_property
from typing import TYPE_CHECKING

from tidings.bootstrap.counter_stripes import Stripe, stripe
from tidings.notify.inbox.deliver import InboxDeliverer

if TYPE_CHECKING:
    from tidings.bootstrap.access import AccessStage
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.notify import NotifyStage
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep
    from tidings.notify.access.inbox_tokens import InboxTokens
    from tidings.notify.inbox.change import InboxChanger


class InboxStage:
    """The in-app inbox: stores items, and shows them to their readers."""

    def __init__(self, kernel: "KernelStage", access: "AccessStage", notify: "NotifyStage") -> None:
        self._kernel = kernel
        self._access = access
        self._parts = parts = notify.parts
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

    def register(self) -> None:
        """The parts that handlers name."""
        from tidings.notify.inbox.act import InboxActor

        _ = self.changer, self.tokens
        self._parts.get(InboxActor, metrics=self._access.metrics)

    def jobs(self) -> "dict[str, Job]":
        """None."""
        return {}

    def sweeps(self) -> "dict[str, Sweep]":
        """None."""
        return {}
