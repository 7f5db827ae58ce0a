"""One vendor account: its circuit, how calls went, what it costs and takes, and whether it works."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.charts import Series, bar_chart, line_chart
from tidings.backoffice.console.kit.forms import (
    area_field,
    button,
    confirm,
    field_row,
    hidden,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import (
    Tone,
    badge,
    code,
    facts,
    moment,
    said,
    section,
    timeline,
)
from tidings.backoffice.console.kit.typed import Typed, amount
from tidings.backoffice.console.vendors.list_page import HERE, standing
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

_HOURS: Final = 24

Row = dict[str, Any]


def account_page(
    visit: Visit,
    one: Row,
    circuit: Row | None,
    calls: Row | None,
    *,
    told: Told | None = None,
    typed: Typed | None = None,
    checked: Row | None = None,
    status: int = 200,
) -> Reply:
    """All about it."""
    words = visit.words
    is_own = one["owner"] == "tenant" or visit.tenant_is_missing
    may_write = visit.may("router:write") and is_own
    parts: list[Child] = [
        _checked(visit, checked),
        section(
            words["vendors.now"],
            _facts(visit, one),
            actions=_switch(visit, one) if may_write else None,
            id_="now",
        ),
    ]
    if circuit is not None:
        parts.append(_circuit(visit, circuit, may_write=may_write))
    if calls is not None:
        parts.append(_calls(visit, calls))
    parts.append(_terms(visit, one, typed or Typed(), may_write=may_write))
    return page(
        words,
        one["vendor"],
        parts,
        reader=visit.reader,
        here=HERE,
        trail=[(words["vendors.title"], HERE)],
        told=told or visit.told(),
        status=status,
    )


def _facts(visit: Visit, one: Row) -> Html:
    words = visit.words
    can = [name.replace("_", " ") for name, able in one["capabilities"].items() if able]
    return facts(
        (words["vendors.owner"], words[f"vendors.owner.{one['owner']}"]),
        (words["vendors.adapter"], code(one["adapter"])),
        (words["vendors.channels"], ", ".join(words.channel(channel) for channel in one["channels"])),
        (words["vendors.handle"], code(one["handle"]) if one["handle"] else None),
        (words["vendors.can"], el("span", ", ".join(can), lang="en", dir="auto") if can else None),
        (words["vendors.hook"], code(one["hook"], copy=True) if one["hook"] else None),
        (words["vendors.hook_advice"], said(one["hook_advice"]) if one["hook_advice"] else None),
        ("ID", code(one["id"], copy=True)),
    )


def _switch(visit: Visit, one: Row) -> Html:
    words = visit.words
    path = f"{HERE}/{one['id']}"
    check = post_form(visit.reader, f"{path}/check", button(words["vendors.check"], "quiet"))
    hide = {"version": str(one["version"])}
    if not one["active"]:
        fields = (
            hidden("version", str(one["version"])),
            hidden("active", "true"),
            button(words["vendors.on"], "quiet"),
        )
        return join(check, post_form(visit.reader, f"{path}/active", fields))
    off = confirm(
        words, visit.reader, f"{path}/active", words["vendors.off"], words["vendors.off_question"], hide=hide
    )
    return join(check, off)


def _circuit(visit: Visit, circuit: Row, *, may_write: bool) -> Html:
    words = visit.words
    path = f"{HERE}/{circuit['account_id']}/circuit"
    held, last = circuit["held"], circuit["last_minute"]
    counts = None
    if last is not None:
        counts = (
            words["vendors.last_minute"]
            .replace("{calls}", str(last["calls"]))
            .replace("{failed}", str(last["failed"]))
            .replace("{slow}", str(last["slow"]))
        )
    shown = facts(
        (words["status"], standing(visit, {"active": True}, circuit)),
        (words["vendors.since"], moment(circuit["since"]) if circuit["since"] else None),
        (words["vendors.tried_again"], moment(circuit["until"]) if circuit["until"] else None),
        (words["vendors.reason"], said(circuit["reason"]) if circuit["reason"] else None),
        (
            words["vendors.held"],
            join(
                said(held["reason"]),
                moment(held["until"], otherwise=words["vendors.until_let_go"]),
                between=" · ",
            )
            if held
            else None,
        ),
        (words["vendors.minute"], counts),
    )
    verbs: Child = None
    if may_write:
        fields = (
            text_field("reason", words["vendors.reason"], required=True, maxlength=500, id_="hold-reason"),
            text_field("until", words["vendors.until"], kind="datetime-local", id_="hold-until"),
        )
        hold = [
            confirm(
                words,
                visit.reader,
                path,
                words[f"vendors.hold.{state}"],
                words[f"vendors.hold_question.{state}"],
                fields=_named(fields, state),
                hide={"state": state},
                kind="grave" if state == "OPEN" else "quiet",
                id_=f"hold-{state}",
            )
            for state in ("OPEN", "CLOSED")
        ]
        let_go = post_form(visit.reader, f"{path}/let-go", button(words["vendors.let_go"])) if held else None
        verbs = el("div", let_go, hold, class_="actions")
    return section(words["vendors.circuit"], shown, verbs, id_="circuit", live=None if may_write else 10)


def _named(fields: tuple[Html, ...], state: str) -> list[Html]:
    """The same fields twice on a page need ids of their own."""
    return [Html(one.replace('"hold-', f'"hold-{state.lower()}-')) for one in fields]


def _calls(visit: Visit, calls: Row) -> Html:
    words = visit.words
    hours = _each_hour(calls["hours"])
    labels = [hour["hour"][11:16] for hour in hours]
    good = Series(words["vendors.went_well"], [hour["calls"] - hour["failed"] for hour in hours], "good")
    bad = Series(words["vendors.failed"], [hour["failed"] for hour in hours], "bad")
    half = Series(words["vendors.half"], [hour["p50_ms"] or 0 for hour in hours], "info")
    most = Series(words["vendors.most"], [hour["p95_ms"] or 0 for hour in hours], "warn")
    return section(
        words["vendors.calls_24"],
        el("p", words["vendors.own_calls"], class_="hint"),
        bar_chart(words, words["vendors.calls"], labels, [good, bad], id_="calls-chart"),
        line_chart(words, words["vendors.latency_ms"], labels, [half, most], id_="latency-chart"),
        id_="calls",
    )


def _each_hour(hours: list[Row]) -> list[Row]:
    """A day of hours up to the last one with calls, those without calls too."""
    found = {datetime.fromisoformat(hour["hour"]): hour for hour in hours}
    last = max(found)
    every = [last - timedelta(hours=back) for back in reversed(range(_HOURS))]
    none = {"calls": 0, "failed": 0, "p50_ms": 0, "p95_ms": 0}
    return [found.get(at) or {"hour": at.isoformat(), **none} for at in every]


def _terms(visit: Visit, one: Row, typed: Typed, *, may_write: bool) -> Html:
    words = visit.words
    prices: Mapping[str, Any] = one["prices"] or {}
    if not may_write:
        shown = facts(
            (words["vendors.field.per_second"], one["per_second"]),
            (words["vendors.field.per_day"], one["per_day"]),
            (words["vendors.field.currency"], prices.get("currency")),
            (words["vendors.field.base"], amount(prices.get("base_micros")) or None),
        )
        return section(words["vendors.terms"], shown, id_="terms")

    def text(name: str, value: object, *api: str, **attributes: Any) -> Html:
        return text_field(
            name,
            words[f"vendors.field.{name}"],
            typed.value(name, value),
            error=typed.fault(name, *api),
            dir="ltr",
            **attributes,
        )

    per_prefix = "\n".join(
        _price_line(prefix, price) for prefix, price in prices.get("by_prefix", {}).items()
    )
    wrong = next((fault for name, fault in typed.errors.items() if name.startswith("prices.by_prefix")), None)
    form = post_form(
        visit.reader,
        f"{HERE}/{one['id']}",
        hidden("version", str(one["version"])),
        field_row(
            text("per_second", one["per_second"], inputmode="numeric"),
            text("per_day", one["per_day"], inputmode="numeric"),
        ),
        field_row(
            text("currency", prices.get("currency"), "prices.currency", maxlength=3, placeholder="USD"),
            text("base", amount(prices.get("base_micros")), "prices.base_micros", inputmode="decimal"),
            text(
                "segment",
                amount(prices.get("per_segment_micros")),
                "prices.per_segment_micros",
                inputmode="decimal",
            ),
            text(
                "minute",
                amount(prices.get("per_minute_micros")),
                "prices.per_minute_micros",
                inputmode="decimal",
            ),
        ),
        area_field(
            "by_prefix",
            words["vendors.field.by_prefix"],
            typed.value("by_prefix", per_prefix),
            rows=4,
            hint=words["vendors.by_prefix_hint"],
            error=wrong,
            dir="ltr",
        ),
        button(words["save"]),
        data_guard=True,
    )
    return section(words["vendors.terms"], form, id_="terms")


def _price_line(prefix: str, price: Mapping[str, Any]) -> str:
    names = (("base", "base_micros"), ("segment", "per_segment_micros"), ("minute", "per_minute_micros"))
    said_ = [f"{name}={amount(price[key])}" for name, key in names if price.get(key) is not None]
    return " ".join([prefix, *said_])


def _checked(visit: Visit, checked: Row | None) -> Child:
    if checked is None:
        return None
    entries: list[tuple[Child, Child, Tone]] = []
    for step in checked["steps"]:
        tone: Tone = {"ok": "good", "failed": "bad", "warning": "warn"}.get(step["result"], "off")  # type: ignore[assignment]
        what = join(
            said(step["words"]), said(step["next"]), code(step["code"]) if step["code"] else None, between=" "
        )
        entries.append(
            (join(badge(step["name"].replace("_", " ")), " ", badge(step["result"], tone)), what, tone)
        )
    title = visit.words["vendors.check_ok"] if checked["ok"] else visit.words["vendors.check_failed"]
    return section(title, timeline(entries), id_="check")


def new_account_page(
    visit: Visit, kinds: list[Row], typed: Typed, *, told: Told | None = None, status: int = 200
) -> Reply:
    """An account to be."""
    words = visit.words
    wrong = next(
        (f"{name} {fault}" for name, fault in typed.errors.items() if name.startswith("secret_ref")), None
    )
    needs = [
        el(
            "li",
            code(kind["name"]),
            " ",
            el("span", ", ".join(kind["required_fields"]), dir="ltr", class_="soft"),
        )
        for kind in kinds
    ]
    form = post_form(
        visit.reader,
        f"{HERE}/new",
        field_row(
            select_field(
                "kind",
                words["vendors.kind"],
                [(kind["name"], kind["title"]) for kind in kinds],
                typed.value("kind"),
            ),
            text_field(
                "suffix",
                words["vendors.suffix"],
                typed.value("suffix"),
                hint=words["vendors.suffix_hint"],
                error=typed.fault("vendor"),
                maxlength=40,
                dir="ltr",
            ),
        ),
        field_row(
            text_field(
                "secret_ref",
                words["vendors.reference"],
                typed.value("secret_ref"),
                hint="sealed://… vault://… file://…",
                error=wrong,
                required=True,
                maxlength=512,
                dir="ltr",
            ),
            text_field(
                "handle",
                words["vendors.handle"],
                typed.value("handle"),
                error=typed.fault("handle"),
                maxlength=200,
                dir="ltr",
            ),
        ),
        text_field(
            "code",
            words["code"],
            hint=words["code_note"],
            required=True,
            autocomplete="one-time-code",
            maxlength=40,
            dir="ltr",
        ),
        button(words["save"]),
    )
    body = [
        section(words["vendors.new"], form, id_="new"),
        section(words["vendors.needs"], el("ul", needs, class_="rows"), id_="needs"),
    ]
    return page(
        words,
        words["vendors.new"],
        body,
        reader=visit.reader,
        here=HERE,
        trail=[(words["vendors.title"], HERE)],
        told=told,
        status=status,
    )
