"""Renders sets of messages in V8: compiled once, kept while there is room, each set in one call.

A template that runs away is stopped by counting its steps, inside V8, where it fails alone. Time and
memory are the last resort: the set is then halved until the guilty message is by itself.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from tidings.notify.render.errors import IsolateFailedError
from tidings.notify.render.locales import formatting_locale, locale_table
from tidings.notify.render.model import Content, Rendered, RenderFailed, RenderJob, RenderLimits
from tidings.notify.render.zones import known_zone, zone_table

if TYPE_CHECKING:
    from tidings.notify.render.isolate import Isolate

_FIELDS = 5
_PATIENCE = 5
_encode = msgspec.json.Encoder().encode


class V8Renderer:
    """The renderer; belongs to one event loop, makes its isolate at the first use."""

    def __init__(self, *, limits: RenderLimits | None = None, own_hosts: Sequence[str] = ()) -> None:
        self._limits = limits or RenderLimits()
        #: Links to ourselves are always allowed: unsubscribing must not depend on a tenant's list.
        self._own_hosts = tuple(own_hosts)
        self._isolate: Isolate | None = None
        self._busy = asyncio.Lock()
        #: The keys of compiled contents, the longest unused first, with their sizes.
        self._loaded: OrderedDict[str, int] = OrderedDict()
        self._bytes = 0

    async def open(self) -> None:
        """Make the isolate now, so that the first message does not wait for it."""
        async with self._busy:
            self._ready()

    async def close(self) -> None:
        """Give V8's memory back."""
        async with self._busy:
            self._discard()

    async def render(self, jobs: Sequence[RenderJob]) -> list[Rendered | RenderFailed]:
        """One result for each job, in their order; a job that fails harms no other."""
        results: list[Rendered | RenderFailed] = []
        for start in range(0, len(jobs), self._limits.set_size):
            results += await self._render_set(jobs[start : start + self._limits.set_size])
        return results

    async def parse(self, source: str) -> dict[str, Any]:
        """The syntax tree of a Handlebars source as `{"tree"}`, or `{"error"}` with what is wrong with it."""
        async with self._busy:
            try:
                answer = await self._ready().call("parse", source, seconds=self._limits.seconds)
            except IsolateFailedError as error:
                self._after(error)
                return {"error": str(error)}
        try:
            found: dict[str, Any] = msgspec.json.decode(answer)
        except RecursionError:
            return {"error": "expressions are nested too deeply; take some out"}
        return found

    async def _render_set(self, jobs: Sequence[RenderJob]) -> list[Rendered | RenderFailed]:
        try:
            async with self._busy:
                return await self._call(jobs)
        except IsolateFailedError as error:
            if len(jobs) == 1:
                detail = f"the template was stopped: {error}"
                return [RenderFailed(code="took_too_long", detail=detail, locale=jobs[0].content.locale)]
        middle = len(jobs) // 2
        return [*await self._render_set(jobs[:middle]), *await self._render_set(jobs[middle:])]

    async def _call(self, jobs: Sequence[RenderJob]) -> list[Rendered | RenderFailed]:
        try:
            wanted = [await self._prepared(job) for job in jobs]
            await self._make_room({job.content.key for job in jobs})
            # A machine can stand still for a while. A set is tried again in halves; alone, a message gets
            # more time, so that only its own doing can fail it.
            patience = _PATIENCE if len(jobs) == 1 else 1
            answer = await self._ready().call(
                "renderSet", _encode(wanted).decode(), seconds=self._limits.seconds * patience
            )
        except IsolateFailedError as error:
            self._after(error)
            raise
        fields = answer.split("\x00")
        return [
            _result(job.content, fields[at : at + _FIELDS])
            for job, at in zip(jobs, range(0, len(fields), _FIELDS), strict=True)
        ]

    async def _prepared(self, job: RenderJob) -> dict[str, Any]:
        """The job as V8 reads it, with everything loaded that it needs."""
        isolate, seconds = self._ready(), self._limits.seconds
        await self._load(isolate, job.content)
        locale = formatting_locale(job.locale, job.content.locale)
        if locale not in isolate.locales:
            await isolate.send("loadLocale", {"tag": locale, "table": locale_table(locale)}, seconds=seconds)
            isolate.locales.add(locale)
        zone = job.time_zone
        if zone not in isolate.zones:
            table = zone_table(known_zone(zone))
            await isolate.send("loadZone", {"name": zone, "table": table}, seconds=seconds)
            isolate.zones.add(zone)
        hosts, brand = job.allowed_link_domains, job.brand
        return {
            "k": job.content.key,
            "v": job.variables,
            "l": locale,
            "z": zone,
            "h": [*hosts, *self._own_hosts] if hosts else (),
            "d": {
                "recipient": {"name": job.recipient_name},
                "tenant": {"name": job.tenant_name},
                "brand": {
                    "name": brand.name,
                    "logo_url": brand.logo_url,
                    "color": brand.color,
                    "on_color": brand.on_color,
                    "footer": brand.footer,
                    "support_url": brand.support_url,
                    "theme_etag": brand.theme_etag,
                },
                "links": {"unsubscribe": job.unsubscribe_url, "preferences": job.preferences_url},
                "locale": job.content.locale,
                "direction": job.content.direction,
            },
        }

    async def _load(self, isolate: "Isolate", content: Content) -> None:
        if content.key in self._loaded:
            self._loaded.move_to_end(content.key)
            return
        bundle = {
            "key": content.key,
            "subject": content.subject,
            "html": content.html,
            "text": content.text,
            "whatsapp": content.whatsapp,
        }
        await isolate.send("loadBundle", bundle, seconds=self._limits.seconds)
        self._loaded[content.key] = content.size
        self._bytes += content.size

    async def _make_room(self, needed: set[str]) -> None:
        dropped: list[str] = []
        for key in list(self._loaded):
            if self._bytes <= self._limits.code_bytes:
                break
            if key not in needed:
                dropped.append(key)
                self._bytes -= self._loaded.pop(key)
        if dropped:
            await self._ready().send("dropBundles", dropped, seconds=self._limits.seconds)

    def _ready(self) -> "Isolate":
        if self._isolate is None:
            # V8 is loaded by whoever renders; a process that only takes requests starts without it.
            from tidings.notify.render.isolate import Isolate

            self._isolate = Isolate(self._limits)
        return self._isolate

    def _after(self, error: IsolateFailedError) -> None:
        if not error.reusable:
            self._discard()

    def _discard(self) -> None:
        isolate, self._isolate = self._isolate, None
        self._loaded.clear()
        self._bytes = 0
        if isolate is not None:
            isolate.close()


def _result(content: Content, fields: Sequence[str]) -> Rendered | RenderFailed:
    code, subject, html, text, whatsapp = fields
    if code:
        return RenderFailed(code=code, detail=subject, locale=content.locale, place=html)
    return Rendered(
        subject=None if content.subject is None else subject,
        html=None if content.html is None else html,
        text=None if content.text is None else text,
        locale=content.locale,
        direction=content.direction,
        whatsapp=None if content.whatsapp is None else whatsapp,
    )
