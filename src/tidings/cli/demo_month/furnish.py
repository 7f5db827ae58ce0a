"""What the hotels set up once: texts, ladders, triggers, webhooks, people with what they chose, an account to fall back on."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tidings.cli.demo_month.doors import ApiCall, SandboxDoor
from tidings.cli.demo_month.people import Guest, full_name
from tidings_client import ConflictError, NotFoundError

_NIGHT: Final = {"days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], "start": "22:00", "end": "07:30"}
_TEXT: Final = {"type": "string"}

_ROOM: Final = {
    "type": "object",
    "required": ["room", "house"],
    "properties": {"room": _TEXT, "house": _TEXT},
}
_NEWS: Final = {
    "type": "object",
    "required": ["title", "text"],
    "properties": {"title": _TEXT, "text": _TEXT},
}
_OFFER: Final = {
    "type": "object",
    "required": ["percent", "until"],
    "properties": {"percent": {"type": "integer"}, "until": _TEXT, "first_name": _TEXT},
}
_ROOM_SAMPLE: Final = {"usual": {"room": "214", "house": "Harbour House"}}
_NEWS_SAMPLE: Final = {"usual": {"title": "Pool closed", "text": "The pool is closed on Thursday."}}
_OFFER_SAMPLE: Final = {"usual": {"percent": 20, "until": "30 November"}}

#: Key and channel → category, schema, samples, and the texts by locale.
_TEMPLATES: Final[
    Mapping[tuple[str, str], tuple[str, Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]]]
] = {
    ("room_ready", channel): (
        "transactional",
        _ROOM,
        _ROOM_SAMPLE,
        {
            "en": {**form, "body": body.format("Room {{room}} at {{house}} is ready for you.")},
            "fr": {**form, "body": body.format("La chambre {{room}} vous attend à {{house}}.")},
            "ar": {**form, "body": body.format("الغرفة {{room}} في {{house}} جاهزة لك.")},
        },
    )
    for channel, form, body in (
        ("push", {"format": "json"}, '{{"title": "{{{{house}}}}", "body": "{}"}}'),
        ("inapp", {"format": "json"}, '{{"title": "{{{{house}}}}", "body": "{}"}}'),
        ("telegram", {"format": "text"}, "{}"),
        ("viber", {"format": "text"}, "{}"),
        ("sms", {"format": "text"}, "{}"),
    )
} | {
    ("house_news", "inapp"): (
        "operational",
        _NEWS,
        _NEWS_SAMPLE,
        {"en": {"format": "json", "body": '{"title": "{{title}}", "body": "{{text}}"}'}},
    ),
    ("house_news", "email"): (
        "operational",
        _NEWS,
        _NEWS_SAMPLE,
        {"en": {"format": "markdown", "subject": "{{title}}", "body": "{{text}}"}},
    ),
    ("autumn_offer", "email"): (
        "marketing",
        _OFFER,
        _OFFER_SAMPLE,
        {
            "en": {
                "format": "markdown",
                "subject": "{{percent}} % off until {{until}}",
                "body": "Stay with us this autumn: **{{percent}} %** off, until {{until}}.\n\n[Book](https://demo.example/offers)",
            },
            "fr": {
                "format": "markdown",
                "subject": "{{percent}} % jusqu'au {{until}}",
                "body": "Cet automne : **{{percent}} %** de remise, jusqu'au {{until}}.\n\n[Réserver](https://demo.example/offers)",
            },
        },
    ),
}

_POLICIES: Final[Sequence[Mapping[str, Any]]] = (
    {
        "use_case": "alert",
        "description": "Codes and warnings: WhatsApp, then a text, then a call.",
        "cost_cap_micros": 250_000,
        "ladder": [
            {"channel": "whatsapp", "deadline_seconds": 60},
            {"channel": "sms", "deadline_seconds": 120, "retry_budget": 1},
            {"channel": "voice", "deadline_seconds": 300},
        ],
    },
    {
        "use_case": "txn",
        "description": "What guests have asked for: where they are first, then by mail or text.",
        "order": "fixed",
        "ladder": [
            {"channel": "push", "deadline_seconds": 60, "success": "accepted"},
            {"channel": "telegram", "deadline_seconds": 60, "success": "accepted"},
            {"channel": "viber", "deadline_seconds": 90},
            {"channel": "email", "deadline_seconds": 600, "success": "accepted"},
            {"channel": "sms", "deadline_seconds": 300},
            {"channel": "inapp", "deadline_seconds": 600},
        ],
    },
)
_LETTER: Final = """\
<main>
<p><strong>{{@brand.name}}</strong></p>
{{> body}}
<p>{{@brand.footer}}</p>
</main>
"""
_WEBHOOKS: Final = (
    (
        "demo",
        "Property management",
        ["notification.bounced.v1", "notification.failed.v1", "suppression.*.v1"],
    ),
    ("old-crm", "Old CRM", ["notification.bounced.v1"]),
)


class Furnisher:
    """Does each thing that is not there yet."""

    def __init__(
        self, call: ApiCall, platform_call: ApiCall | None, sandbox: SandboxDoor, *, seed: int
    ) -> None:
        self._call = call
        self._platform = platform_call
        self._sandbox = sandbox
        self._seed = seed

    def furnish(self, people: Sequence[Guest]) -> Mapping[str, str]:
        """All of it; the recipients' ids by their identities."""
        self._track()
        self._look()
        self._templates()
        self._policies()
        self._fall_back()
        self._triggers()
        self._webhooks()
        ids = self._people(people)
        self._suppress(people)
        self.be_the_people(people)
        return ids

    def be_the_people(self, people: Sequence[Guest]) -> None:
        """Tell the sandbox what becomes of messages to each; it forgets when it ends."""
        for guest in people:
            if guest.fate is not None:
                self._sandbox.script(guest.addresses["sms"], guest.fate)

    def _track(self) -> None:
        """Opens and clicks are seen, and orders can be searched for; where there is a key of the platform."""
        if self._platform is None:
            return
        tenant = self._call("own_tenant")["tenant"]
        policy = tenant["notification_policy"]
        wanted = {**policy, "tracking": {"opens": True, "clicks": True}, "searchable_metadata": ["order"]}
        if wanted != policy:
            self._platform(
                "update_tenant",
                tenant["id"],
                body={"notification_policy": wanted},
                if_match=tenant["version"],
            )

    def _look(self) -> None:
        known = self._call("show_branding")
        if not known["branding"]:
            look = {
                "name": "Demo Hotels",
                "primary_colour": "#14532d",
                "footer": "Demo Hotels, 1 Harbour Street",
            }
            self._call("put_branding", body=look, if_match=known["version"])
        try:
            self._call("show_layout", "letter")
        except NotFoundError:
            self._call("put_layout", "letter", body={"text": _LETTER})

    def _templates(self) -> None:
        for (key, channel), (category, schema, samples, locales) in _TEMPLATES.items():
            try:
                self._call("show_template", key, channel)
            except NotFoundError:
                version = {
                    "semver": "1.0.0",
                    "category": category,
                    "variables_schema": schema,
                    "locales": locales,
                    "preview_samples": samples,
                }
                self._call("add_version", key, channel, body=version)
                self._call("publish_version", key, channel, "1.0.0", body={})
        # A draft that somebody is at.
        try:
            self._call("show_version", "autumn_offer", "email", "1.1.0")
        except NotFoundError:
            _, schema, samples, locales = _TEMPLATES["autumn_offer", "email"]
            draft = {
                "semver": "1.1.0",
                "variables_schema": schema,
                "locales": locales,
                "preview_samples": samples,
            }
            # A machine has drafted it, so that it waits for somebody's approval.
            drafted = {"model": "demo-writer", "prompt_hash": "sha256:0d15ea5e", "requested_by": "marketing"}
            self._call("add_version", "autumn_offer", "email", body={**draft, "ai_provenance": drafted})

    def _policies(self) -> None:
        for policy in _POLICIES:
            try:
                self._call("create_policy", body=policy)
            except ConflictError:
                continue

    def _fall_back(self) -> None:
        """Texts have a second vendor."""
        known = self._call("show_channel", "sms")
        if known.get("fallback_vendor") is None:
            body = {"vendor": known["vendor"], "fallback_vendor": "http_backup", "sender": known["sender"]}
            self._call("put_channel", "sms", body=body, if_match=known["version"])

    def _triggers(self) -> None:
        self._call("adopt_trigger_set", "hotel")
        for trigger in self._call("list_triggers")["items"]:
            if not trigger["enabled"]:
                self._call("enable_trigger", trigger["id"])

    def _webhooks(self) -> None:
        known = {one["name"] for one in self._call("list_webhooks")["items"]}
        for receiver, name, events in _WEBHOOKS:
            if name not in known:
                url = f"{self._sandbox.url}/receiver/{receiver}"
                self._call("create_webhook", body={"url": url, "name": name, "events": events})
        # It was switched off long ago, and nobody took its webhook away.
        self._sandbox.fault(adapter="receiver", vendor="old-crm", mode="reject_temporary")

    def _people(self, people: Sequence[Guest]) -> Mapping[str, str]:
        lines = [json.dumps(guest.line(full_name(self._seed, guest)), ensure_ascii=False) for guest in people]
        self._call("import_recipients", body="\n".join(lines).encode(), media_type="application/x-ndjson")
        ids: dict[str, str] = {}
        cursor: str | None = None
        while True:
            page = self._call("list_recipients", query={"limit": 200, "cursor": cursor})
            for one in page["items"]:
                if one.get("identity"):
                    ids[one["identity"]["id"]] = one["id"]
            cursor = page.get("next_cursor")
            if cursor is None:
                break
        choices = [json.dumps(line) for guest in people if (line := _choices(guest))]
        self._call("import_preferences", body="\n".join(choices).encode(), media_type="application/x-ndjson")
        return ids

    def _suppress(self, people: Sequence[Guest]) -> None:
        for guest in people[:: max(7, len(people) // 12)]:
            body = {"channel": "email", "address": guest.addresses["email"], "notes": "asked at the desk"}
            try:
                self._call("add_suppression", body=body)
            except ConflictError:
                continue


def _choices(guest: Guest) -> Mapping[str, Any] | None:
    chosen: dict[str, Any] = {}
    if guest.wants_offers:
        chosen["marketing_consent"] = {"granted": True, "source": "registration card"}
    if guest.sleeps:
        chosen["quiet_hours"] = [_NIGHT]
    if guest.wants_digest:
        chosen["digest_schedule"] = {"operational": {"every": "day", "at": "18:00"}}
    return {"identity": guest.identity, **chosen} if chosen else None
