"""Dashboards and boards: their cache, and the consumer that hears what upstream services tell."""

from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tidings.backoffice.metrics import BackofficeMetrics
    from tidings.backoffice.view_cache.shared import SharedViews
    from tidings.bootstrap.kernel import KernelStage
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.parts import Parts

#: Another process needs so much more for a view than its services are waited for.
_MARGIN: Final = timedelta(seconds=0.5)


class PropertyViewsStage:
    """A part of the back office."""

    def __init__(self, kernel: "KernelStage", metrics: "BackofficeMetrics") -> None:
        self._kernel = kernel
        self._metrics = metrics

    @cached_property
    def shared(self) -> "SharedViews | None":
        """The cache that processes share, where the settings name one."""
        kernel, url = self._kernel, self._kernel.settings.stores.cache_url
        if url is None:
            return None
        # Only here: the client is an extra.
        from tidings.backoffice.view_cache.shared import SharedViews
        from tidings.kernel.redis_hot_state.server import RedisServer

        opened = SharedViews(RedisServer(url), kernel.db, kernel.keyring, kernel.clock, self._metrics)
        kernel.closing.push_async_callback(opened.close)
        return opened

    def register(self, parts: "Parts") -> None:
        """Let handlers name views."""
        from tidings.backoffice.view_cache.cache import ViewCache

        kernel = self._kernel
        cache = ViewCache(
            kernel.hot_state.leases,
            kernel.clock,
            self._metrics,
            changes=kernel.changes,
            shared=self.shared,
            patience=kernel.settings.upstreams.timeout + _MARGIN,
        )
        kernel.closing.push_async_callback(cache.close)
        parts.add(ViewCache, cache)

    def jobs(self) -> "dict[str, Job]":
        """What forgets views."""
        from tidings.backoffice.announcements.tell import DeviceAnnouncements
        from tidings.backoffice.view_cache import invalidate
        from tidings.kernel.bus import Subscription

        kernel = self._kernel
        invalidator = invalidate.ViewInvalidator(
            announcements=DeviceAnnouncements(clock=kernel.clock), clock=kernel.clock, shared=self.shared
        )
        subscription = Subscription(
            invalidate.GROUP,
            invalidate.SUBJECTS,
            ledger="bff_backoffice",
            on_tenant_events=invalidator.handle,
            select=invalidator.select,
            start="now",
        )
        return {"view_invalidation": kernel.bus.consumer(subscription)}
