"""Renders sets of messages in child processes: a fast lane for all tenants, and a slow lane for those whose messages take long.

A template that runs away is stopped by counting its steps, inside V8, where it fails alone. Time and memory are the
last resort: the child is killed, and its set is rendered again one by one, apart from the others, until the guilty
message is by itself.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tidings.notify.render.batch_payload import render_call, results_of
from tidings.notify.render.budget import Budget
from tidings.notify.render.errors import BrokenCallError, ChildDiedError
from tidings.notify.render.frames import body_of
from tidings.notify.render.lane import RenderLane
from tidings.notify.render.model import Rendered, RenderFailed, RenderJob, RenderLimits
from tidings.notify.render.process import Child

_PROGRAM: Final = "tidings.notify.render.child"
#: Seconds that a message takes before its tenant is charged for it; an honest one takes less than one of a thousand.
_ALLOWED: Final = 0.01
#: Seconds that an honest message takes at most, in the mean of a call that several tenants share.
_USUAL: Final = 0.002
#: Seconds of charges after which a tenant's messages go by the slow lane, and how fast they are forgiven.
_AT_ONCE: Final = 0.5
_PER_MINUTE: Final = 3.0
#: Expressions of a content above which it always goes by the slow lane: so many are compiled in some 50 milliseconds.
_HEAVY: Final = 500
#: How long a tenant whose messages took long has batches of its own.
_SLOW_SECONDS: Final = 60.0
_REMEMBERED: Final = 10_000
#: How much longer a call may take in the slow lane, where the largest text that can be published is compiled first.
_SLOW_LANE_FACTOR: Final = 2.5
#: How far the slow lane steps back from the processor.
_NICE: Final = 15


class V8Renderer:
    """The renderer; belongs to one event loop, starts its children at the first use."""

    def __init__(
        self,
        *,
        limits: RenderLimits | None = None,
        own_hosts: Sequence[str] = (),
        budget: Budget | None = None,
    ) -> None:
        self._limits = limits or RenderLimits()
        #: Links to ourselves are always allowed: unsubscribing must not depend on a tenant's list.
        self._own_hosts = tuple(own_hosts)
        self._fast = RenderLane(_PROGRAM, self._limits)
        patient = replace(self._limits, nice=_NICE, seconds=self._limits.seconds * _SLOW_LANE_FACTOR)
        self._slow = RenderLane(_PROGRAM, patient, ends_idle=True)
        #: Who is over it goes by the slow lane.
        self._budget = budget or Budget(at_once=_AT_ONCE, per_minute=_PER_MINUTE)
        self._held_up: Counter[str] = Counter()
        #: Until when a tenant counts as one whose messages take long.
        self._slow_until: dict[str, float] = {}
        #: Tenants that shared a call which took long; one of them is to blame.
        self._suspects: set[str] = set()
        #: By the key of a content, whether it is heavy.
        self._sizes: dict[str, bool] = {}

    @property
    def held_up(self) -> frozenset[str]:
        """The tenants whose messages are in the slow lane just now."""
        return frozenset(self._held_up)

    def slow_lately(self, tenant: str) -> bool:
        """Whether messages of a tenant were in the slow lane within the last minute, or the next ones will be."""
        return (
            self._slow_until.get(tenant, 0.0) > time.monotonic()
            or tenant in self._suspects
            or self._budget.wait_of(tenant) > 0
        )

    @property
    def pids(self) -> list[int]:
        """The child processes."""
        return [*self._fast.pids, *self._slow.pids]

    @property
    def at_work(self) -> int:
        """How many calls are under way."""
        return self._fast.at_work + self._slow.at_work

    async def open(self) -> None:
        """Start a child now, so that the first message does not wait for it."""
        await self._fast.open()

    async def close(self) -> None:
        """End the children."""
        await self._fast.close()
        await self._slow.close()

    async def render(self, jobs: Sequence[RenderJob]) -> list[Rendered | RenderFailed]:
        """One result for each job, in their order; a job that fails harms no other.

        Tenants share calls. One whose messages take long, or may have, has calls of its own beside those.
        """
        groups: dict[str | None, list[int]] = {}
        for n, job in enumerate(jobs):
            groups.setdefault(job.tenant if self._apart(job) else None, []).append(n)
        if len(groups) < 2:
            return await self._render_group(jobs)
        done: list[Rendered | RenderFailed | None] = [None] * len(jobs)
        try:
            async with asyncio.TaskGroup() as tasks:
                for places in groups.values():
                    tasks.create_task(self._render_into(done, places, jobs))
        except BaseExceptionGroup as group:
            # Of those that fail as a whole no message is to blame: the set is given back.
            raise group.exceptions[0] from None
        return [result for result in done if result is not None]

    async def _render_into(
        self, done: list[Rendered | RenderFailed | None], places: Sequence[int], jobs: Sequence[RenderJob]
    ) -> None:
        results = await self._render_group([jobs[n] for n in places])
        for n, result in zip(places, results, strict=True):
            done[n] = result

    async def _render_group(self, jobs: Sequence[RenderJob]) -> list[Rendered | RenderFailed]:
        """Of one tenant, or of several that share calls."""
        results: list[Rendered | RenderFailed] = []
        #: Up to this place each is rendered alone: a child has died of one of them.
        alone_until = 0
        while (at := len(results)) < len(jobs):
            alone = at < alone_until
            some = jobs[at : at + (1 if alone else self._limits.set_size)]
            slow = (
                alone
                or any(self._heavy(one) for one in some)
                or all(self._budget.wait_of(one.tenant) > 0 for one in some)
            )
            try:
                results += await self._render_some(some, slow=slow)
            except ChildDiedError as error:
                if len(some) > 1:
                    alone_until = at + len(some)
                else:
                    results.append(await self._again(some[0], error))
        return results

    def _apart(self, job: RenderJob) -> bool:
        """Whether a job is kept out of the calls that tenants share."""
        return job.tenant in self._suspects or self._budget.wait_of(job.tenant) > 0 or self._heavy(job)

    def _heavy(self, job: RenderJob) -> bool:
        """Whether compiling its texts takes so long that no other tenant should wait for it."""
        known = self._sizes.get(job.content.key)
        if known is None:
            if len(self._sizes) >= _REMEMBERED:
                self._sizes.clear()
            known = self._sizes[job.content.key] = job.content.expressions > _HEAVY
        return known

    async def _again(self, job: RenderJob, error: ChildDiedError) -> Rendered | RenderFailed:
        """What becomes of one that a child has died of while it was alone."""
        if error.reason == "killed_the_renderer":
            # Perhaps another tenant's message killed it; a second time it is this one.
            try:
                [result] = await self._render_some([job], slow=True)
            except ChildDiedError as second:
                error = second
            else:
                return result
        return RenderFailed(
            code=error.reason, detail=f"the template was stopped: {error}", locale=job.content.locale
        )

    async def _render_some(self, jobs: Sequence[RenderJob], *, slow: bool) -> list[Rendered | RenderFailed]:
        """The results of the first of them; of one at least."""
        if not slow:
            return await self._call(self._fast, jobs)
        tenant = jobs[0].tenant
        self._held_up[tenant] += 1
        self._remember_slow(jobs[0])
        try:
            return await self._call(self._slow, jobs)
        finally:
            self._remember_slow(jobs[0])
            self._held_up[tenant] -= 1
            if not self._held_up[tenant]:
                del self._held_up[tenant]

    def _remember_slow(self, job: RenderJob) -> None:
        """Not of one that is only alone because it shared a call with another that its child died of."""
        if self._heavy(job) or self._budget.wait_of(job.tenant) > 0:
            if len(self._slow_until) >= _REMEMBERED:
                self._slow_until.clear()
            self._slow_until[job.tenant] = time.monotonic() + _SLOW_SECONDS

    async def _call(self, lane: RenderLane, jobs: Sequence[RenderJob]) -> list[Rendered | RenderFailed]:
        tenant = _only_tenant(jobs)
        async with lane.child(tenant) as child:
            try:
                return await self._call_child(child, jobs)
            except ChildDiedError as error:
                # Several are charged when they are rendered alone: one of them.
                self._budget.charge(tenant, error.seconds + _AT_ONCE)
                raise

    async def _call_child(self, child: Child, jobs: Sequence[RenderJob]) -> list[Rendered | RenderFailed]:
        call = render_call(child.loaded, jobs, limits=self._limits, own_hosts=self._own_hosts)
        try:
            answer = await child.call("render", body_of(call))
            results = results_of(jobs, answer.body)
        except (BrokenCallError, ValueError):
            # What it has loaded of that call is not known, or its answer is none to it.
            child.kill("killed_the_renderer")
            raise ChildDiedError("killed_the_renderer", seconds=0.0) from None
        self._charge(jobs[: len(results)], answer.seconds, loaded=bool(call.loads))
        return results

    def _charge(self, jobs: Sequence[RenderJob], seconds: float, *, loaded: bool) -> None:
        """Charge a tenant; of several that shared a call which took long, each is suspected until one of its own did not.

        One that took longer than the slice is known: a call is answered when its slice is over, so it is the last.
        """
        tenant = _only_tenant(jobs)
        over = seconds - _ALLOWED * len(jobs)
        if tenant:
            self._budget.charge(tenant, over)
            if over <= 0:
                self._suspects.discard(tenant)
        elif over > self._limits.slice_seconds:
            self._budget.charge(jobs[-1].tenant, over)
            self._suspect(jobs[-1:])
        elif seconds > _ALLOWED + (_ALLOWED if loaded else _USUAL) * len(jobs):
            self._suspect(jobs)

    def _suspect(self, jobs: Sequence[RenderJob]) -> None:
        if len(self._suspects) >= _REMEMBERED:
            self._suspects.clear()
        self._suspects |= {job.tenant for job in jobs} - {""}


def _only_tenant(jobs: Sequence[RenderJob]) -> str:
    """The tenant of all of them; empty where there are several, and for the platform."""
    tenant = jobs[0].tenant
    return tenant if all(job.tenant == tenant for job in jobs) else ""
