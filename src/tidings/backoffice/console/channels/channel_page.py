"""One channel: its vendors and sender, credentials, a test, and where mail's DNS records are looked at."""

from collections.abc import Mapping
from typing import Any

from tidings.backoffice.console.channels.channels_page import (
    HERE,
    channel_status,
    limits_of,
    sender_of,
    vendors,
)
from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import (
    button,
    check_field,
    confirm,
    field_row,
    hidden,
    link_button,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import badge, code, facts, moment, note, said, section, status_badge
from tidings.backoffice.console.kit.tables import Column, table
from tidings.backoffice.console.kit.typed import Typed
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

Row = dict[str, Any]


def channel_page(
    visit: Visit,
    channel: str,
    found: Row | None,
    etag: str,
    kinds: list[Row],
    *,
    told: Told | None = None,
    typed: Typed | None = None,
    tested: Row | None = None,
    status: int = 200,
) -> Reply:
    """It as it is set up; a form to set it up where it is not."""
    words = visit.words
    parts: list[Child] = []
    if found is not None:
        parts.append(_health(visit, found))
        parts.append(section(words["channels.now"], _facts(visit, found), id_="now"))
        parts.append(_credentials(visit, channel, found))
    if visit.may("channels:write"):
        parts.append(_form(visit, channel, found, etag, kinds=kinds, typed=typed or Typed()))
        if found is not None:
            parts.append(_test(visit, channel, found, tested))
    elif found is None:
        parts.append(note(words["channels.not_set_up"]))
    dns = None
    if channel == "email" and found is not None:
        dns = link_button(words["channels.dns"], f"{HERE}/email/dns", "quiet")
    return page(
        words,
        words.channel(channel),
        parts,
        reader=visit.reader,
        here=HERE,
        trail=[(words["channels.title"], HERE)],
        actions=dns,
        told=told or visit.told(),
        status=status,
    )


def _health(visit: Visit, found: Row) -> Child:
    words = visit.words
    return [
        note(
            join(
                el("strong", vendor),
                said(health["reason"]),
                el("span", words["channels.since"], " ", moment(health["since"])),
                between=" ",
            ),
            tone="bad",
        )
        for vendor, health in found["health"].items()
    ]


def _facts(visit: Visit, found: Row) -> Html:
    words = visit.words
    sender = found["sender"]
    return facts(
        (words["status"], channel_status(visit, found["status"])),
        (words["channels.vendors"], vendors(found)),
        (words["channels.sender"], sender_of(found)),
        (words["channels.reply_to"], el("bdi", sender["reply_to"]) if sender.get("reply_to") else None),
        (words["channels.limits"], limits_of(visit, found["rate_limit"])),
        (words["channels.changed"], moment(found["updated_at"])),
    )


def _credentials(visit: Visit, channel: str, found: Row) -> Html:
    words = visit.words
    accounts = table(
        words["channels.accounts"],
        [
            Column[Row](words["channels.vendor"], lambda one: code(one["vendor"])),
            Column[Row](words["channels.owner"], lambda one: words[f"channels.owner.{one['owner']}"]),
            Column[Row](words["channels.handle"], lambda one: code(one["handle"])),
            Column[Row](
                words["status"],
                lambda one: status_badge(words, "channels", "on" if one["active"] else "off"),
            ),
        ],
        found["accounts"],
    )
    credentials = table(
        words["channels.credentials"],
        [
            Column[Row](words["channels.vendor"], lambda one: code(one["vendor"])),
            Column[Row](words["channels.reference"], lambda one: code(one["secret_ref"]), "grow"),
            Column[Row](words["status"], lambda one: status_badge(words, "channels", one["status"])),
            Column[Row](words["channels.used_since"], lambda one: moment(one["created_at"])),
            Column[Row](words["channels.revoked"], lambda one: moment(one["revoked_at"])),
        ],
        found["credentials"],
        empty=el("p", words["channels.no_credentials"], class_="soft"),
    )
    own = [(one["vendor"], one["vendor"]) for one in found["accounts"] if one["owner"] == "tenant"]
    rotate = None
    if own and visit.may("channels:write"):
        fields = (
            select_field("vendor", words["channels.vendor"], own, id_="rotate-vendor"),
            text_field(
                "secret_ref",
                words["channels.reference"],
                id_="rotate-ref",
                required=True,
                hint=words["channels.reference_hint"],
                maxlength=512,
                dir="ltr",
            ),
            check_field("check", words["channels.ask_vendor"], checked=True, id_="rotate-check"),
        )
        rotate = confirm(
            words,
            visit.reader,
            f"{HERE}/{channel}/rotate",
            words["channels.rotate"],
            words["channels.rotate_question"],
            fields=fields,
            attested=True,
            kind="quiet",
        )
    return section(words["channels.credentials"], accounts, credentials, rotate, id_="credentials")


def _form(
    visit: Visit, channel: str, found: Row | None, etag: str, *, kinds: list[Row], typed: Typed
) -> Html:
    words, known = visit.words, found or {}
    names = [one["name"] for one in kinds if channel in one["channels"]]
    for name in (
        known.get("vendor"),
        known.get("fallback_vendor"),
        *(a["vendor"] for a in known.get("accounts", ())),
    ):
        if name and name not in names:
            names.append(name)
    options = [(name, name) for name in sorted(names)]
    sender: Mapping[str, Any] = known.get("sender", {})
    limit: Mapping[str, Any] = known.get("rate_limit", {})
    chosen = typed.value("vendor", known.get("vendor"))
    fields: list[Child] = [
        hidden("etag", etag),
        field_row(
            select_field("vendor", words["channels.vendor"], options, chosen, error=typed.fault("vendor")),
            select_field(
                "fallback_vendor",
                words["channels.fallback"],
                [("", words["channels.no_fallback"]), *options],
                typed.value("fallback_vendor", known.get("fallback_vendor")),
                error=typed.fault("fallback_vendor"),
            ),
        ),
    ]
    if channel == "email":
        fields.append(
            field_row(
                _sender(visit, typed, sender, "from_address", dir="ltr", inputmode="email"),
                _sender(visit, typed, sender, "from_name"),
                _sender(visit, typed, sender, "reply_to", dir="ltr", inputmode="email"),
                _sender(visit, typed, sender, "dkim_selector", dir="ltr"),
            )
        )
    else:
        fields.append(_sender(visit, typed, sender, "sender_id", dir="ltr"))
    fields.append(
        field_row(
            *(
                text_field(
                    span,
                    words[f"channels.field.{span}"],
                    typed.value(span, limit.get(span)),
                    inputmode="numeric",
                    error=typed.fault(f"rate_limit.{span}"),
                )
                for span in ("per_second", "per_minute", "per_day")
            )
        )
    )
    is_on = known.get("status", "active") != "disabled"
    fields.append(
        check_field("active", words["channels.switched_on"], checked=typed.ticked("active", otherwise=is_on))
    )
    title = words["channels.change"] if found else words["channels.set_up"]
    form = post_form(
        visit.reader,
        f"{HERE}/{channel}",
        fields,
        _account(visit, typed),
        button(words["save"]),
        data_guard=True,
    )
    return section(title, form, id_="change")


def _sender(visit: Visit, typed: Typed, sender: Mapping[str, Any], name: str, **attributes: str) -> Html:
    return text_field(
        name,
        visit.words[f"channels.field.{name}"],
        typed.value(name, sender.get(name)),
        error=typed.fault(f"sender.{name}"),
        maxlength=254,
        autocomplete="off",
        **attributes,
    )


def _account(visit: Visit, typed: Typed) -> Html:
    words = visit.words
    wrong = next(
        (f"{name} {text}" for name, text in typed.errors.items() if name.startswith("accounts.")), None
    )
    fields = (
        el("p", words["channels.account_text"]),
        text_field(
            "account_ref",
            words["channels.reference"],
            typed.value("account_ref"),
            hint=words["channels.reference_hint"],
            error=wrong,
            maxlength=512,
            dir="ltr",
        ),
        text_field(
            "account_handle",
            words["channels.handle"],
            typed.value("account_handle"),
            maxlength=200,
            dir="ltr",
        ),
        text_field(
            "code",
            words["code"],
            id_="account-code",
            hint=words["channels.account_code"],
            autocomplete="one-time-code",
            maxlength=40,
            dir="ltr",
        ),
    )
    return el("details", el("summary", words["channels.account"]), fields, open=bool(wrong))


def _test(visit: Visit, channel: str, found: Row, tested: Row | None) -> Html:
    words = visit.words
    ours = [(name, name) for name in (found["vendor"], found["fallback_vendor"]) if name]
    form = post_form(
        visit.reader,
        f"{HERE}/{channel}/test#test",
        field_row(
            text_field(
                "to", words["channels.test_to"], id_="test-to", required=True, maxlength=2048, dir="ltr"
            ),
            select_field("vendor", words["channels.vendor"], ours, id_="test-vendor"),
        ),
        button(words["channels.test_send"]),
    )
    return section(
        words["channels.test"],
        el("p", words["channels.test_text"]),
        _outcome(visit, tested),
        form,
        id_="test",
    )


def _outcome(visit: Visit, tested: Row | None) -> Child:
    if tested is None:
        return None
    words = visit.words
    tone = {"accepted": "good", "refused": "bad"}.get(tested["result"], "warn")
    shown = facts(
        (words["channels.result"], badge(words[f"channels.result.{tested['result']}"], tone)),  # type: ignore[arg-type]
        (words["channels.vendor"], code(tested["vendor"])),
        (words["code"], code(tested["code"]) if tested["code"] else None),
        (words["channels.reason"], said(tested["reason"]) if tested["reason"] else None),
        (
            words["channels.vendor_id"],
            code(tested["provider_message_id"], copy=True) if tested["provider_message_id"] else None,
        ),
    )
    return el("div", shown, role="status" if tone == "good" else "alert")
