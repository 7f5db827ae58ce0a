"""How many seconds of processor time each tenant has used up lately: a bucket that runs out slowly."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

#: Buckets that are kept; those that have run empty are forgotten first.
_MANY: Final = 10_000


@dataclass(slots=True)
class _Bucket:
    level: float
    at: float


class Budget:
    """Of one process; restarting forgets it."""

    def __init__(
        self, *, at_once: float, per_minute: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.at_once = at_once
        self.per_minute = per_minute
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}

    def charge(self, tenant: str, seconds: float) -> None:
        """Charge a tenant with what it has used; the platform itself is never counted."""
        if not tenant or seconds <= 0:
            return
        if len(self._buckets) >= _MANY:
            self._forget()
        now = self._clock()
        bucket = self._buckets.setdefault(tenant, _Bucket(0.0, now))
        bucket.level, bucket.at = self._now_in(bucket, now) + seconds, now

    def wait_of(self, tenant: str) -> float:
        """Seconds until a tenant is within its budget again; 0 where it is."""
        bucket = self._buckets.get(tenant)
        if bucket is None:
            return 0.0
        over = self._now_in(bucket, self._clock()) - self.at_once
        return over * 60 / self.per_minute if over > 0 else 0.0

    def _now_in(self, bucket: _Bucket, now: float) -> float:
        return max(0.0, bucket.level - (now - bucket.at) * self.per_minute / 60)

    def _forget(self) -> None:
        now = self._clock()
        left = {name: one for name, one in self._buckets.items() if self._now_in(one, now) > 0}
        # Where all of them have something in them, those that were charged longest ago go.
        newest = sorted(left.items(), key=lambda item: item[1].at)[-_MANY // 2 :]
        self._buckets = left if len(left) < _MANY else dict(newest)
