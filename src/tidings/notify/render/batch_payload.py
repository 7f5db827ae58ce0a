"""A set of messages as V8 reads it, with what it has to load first; and what V8 gave, as results."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from tidings.notify.render.frames import RenderCall
from tidings.notify.render.locales import currency_precisions, formatting_locale, locale_table
from tidings.notify.render.model import Content, Rendered, RenderFailed, RenderJob, RenderLimits
from tidings.notify.render.process import Loaded
from tidings.notify.render.zones import known_zone, zone_table

_FIELDS: Final = 5
_encode: Final = msgspec.json.Encoder().encode


def render_call(
    loaded: Loaded, jobs: Sequence[RenderJob], *, limits: RenderLimits, own_hosts: Sequence[str]
) -> RenderCall:
    """The call for a child; `loaded` is what it has, and will have then."""
    loads: list[tuple[str, str]] = []
    wanted = [_prepared(job, loaded, loads, own_hosts) for job in jobs]
    dropped = _make_room(loaded, {job.content.key for job in jobs}, limits.code_bytes)
    if dropped:
        loads.append(("dropBundles", _text(dropped)))
    return RenderCall(loads, _text(wanted), int(limits.slice_seconds * 1000))


def results_of(jobs: Sequence[RenderJob], body: bytes) -> list[Rendered | RenderFailed]:
    """The results of the jobs that were begun: of the first ones, and of one at least."""
    fields = body.decode("utf-8", "surrogatepass").split("\x00")
    done, rest = divmod(len(fields), _FIELDS)
    if rest or not 0 < done <= len(jobs):
        raise ValueError("a child gave an answer to something else")
    return [_result(jobs[n].content, fields[n * _FIELDS : (n + 1) * _FIELDS]) for n in range(done)]


def _text(value: Any) -> str:
    return _encode(value).decode()


def _prepared(
    job: RenderJob, loaded: Loaded, loads: list[tuple[str, str]], own_hosts: Sequence[str]
) -> dict[str, Any]:
    """The job as V8 reads it, with everything loaded that it needs."""
    _load_content(job.content, loaded, loads)
    locale = formatting_locale(job.locale, job.content.locale)
    if not loaded.tables:
        loads.append(("loadPrecisions", _text(currency_precisions())))
    if ("locale", locale) not in loaded.tables:
        loads.append(("loadLocale", _text({"tag": locale, "table": locale_table(locale)})))
        loaded.tables.add(("locale", locale))
    zone = job.time_zone
    if ("zone", zone) not in loaded.tables:
        loads.append(("loadZone", _text({"name": zone, "table": zone_table(known_zone(zone))})))
        loaded.tables.add(("zone", zone))
    hosts, brand = job.allowed_link_domains, job.brand
    return {
        "k": job.content.key,
        "v": job.variables,
        "l": locale,
        "z": zone,
        "h": [*hosts, *own_hosts] if hosts else (),
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


def _load_content(content: Content, loaded: Loaded, loads: list[tuple[str, str]]) -> None:
    if content.key in loaded.contents:
        loaded.contents.move_to_end(content.key)
        return
    bundle = {
        "key": content.key,
        "subject": content.subject,
        "html": content.html,
        "text": content.text,
        "whatsapp": content.whatsapp,
    }
    loads.append(("loadBundle", _text(bundle)))
    loaded.contents[content.key] = content.size
    loaded.content_bytes += content.size


def _make_room(loaded: Loaded, needed: set[str], most: int) -> list[str]:
    dropped: list[str] = []
    for key in list(loaded.contents):
        if loaded.content_bytes <= most:
            break
        if key not in needed:
            dropped.append(key)
            loaded.content_bytes -= loaded.contents.pop(key)
    return dropped


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
