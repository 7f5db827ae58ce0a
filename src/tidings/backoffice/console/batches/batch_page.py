"""One batch: a draft with whom it would go to, or how one is going."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from tidings.backoffice.console.batches.builder_page import HERE, count_part
from tidings.backoffice.console.batches.list_page import progress
from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, filled, join
from tidings.backoffice.console.kit.forms import (
    area_field,
    button,
    confirm,
    hidden,
    link_button,
    post_form,
    select_field,
)
from tidings.backoffice.console.kit.marks import (
    Tile,
    Tone,
    badge,
    facts,
    moment,
    note,
    number,
    said,
    section,
    status_badge,
    tabs,
    tiles,
)
from tidings.backoffice.console.strings import ConsoleStrings
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

_UNDER_WAY: Final = ("scheduled", "running")
_TOTALS: Final[Sequence[tuple[str, Tone]]] = (
    ("delivered", "good"),
    ("sent", "info"),
    ("failed", "bad"),
    ("suppressed", "warn"),
    ("superseded", ""),
    ("cancelled", ""),
    ("remaining", "info"),
    ("bounced", "bad"),
    ("opened", ""),
    ("clicked", ""),
)


def batch_page(
    visit: Visit,
    batch: Mapping[str, Any],
    names: Mapping[str, str],
    *,
    now: datetime,
    dry_run: Mapping[str, Any] | None = None,
    uploaded: Mapping[str, Any] | None = None,
    asked_by: str | None = None,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """A draft shows whom it would go to; what runs shows its totals, its pace and when it will be over."""
    words = visit.words
    is_draft = batch["status"] == "draft"
    parts: list[Child] = []
    if batch["problem"]:
        parts.append(note(words["batches.problem"], " ", said(batch["problem"]), tone="bad"))
    if not is_draft:
        parts += [batch_tabs(words, batch, "totals"), _going(visit, batch, now)]
    elif dry_run is not None:
        parts.append(count_part(visit, dry_run))
    if uploaded is not None:
        parts.append(_upload_report(visit, uploaded))
    parts.append(section(words["batches.about"], _facts(visit, batch, names, asked_by), id_="about"))
    if is_draft and visit.may("batches:write"):
        parts += [_upload(visit, batch), _test(visit, batch)]
    return page(
        words,
        batch["name"],
        parts,
        reader=visit.reader,
        here=HERE,
        trail=[(words["batches.title"], HERE)],
        actions=_actions(visit, batch, asked_by),
        told=told or visit.told(),
        status=status,
    )


def batch_tabs(words: ConsoleStrings, batch: Mapping[str, Any], here: str) -> Html:
    """The parts of a batch that was started."""
    path = f"{HERE}/{batch['id']}"
    return tabs(
        batch["name"],
        (words["batches.progress"], path, here == "totals"),
        (words["batches.ledger"], f"{path}/people", here == "people"),
        (words["batches.report"], f"{path}/report", here == "report"),
    )


def pace_of(batch: Mapping[str, Any], now: datetime) -> float | None:
    """People whose message is over, or handed over, in a minute since the start; None where there is nothing to tell yet."""
    totals = batch["totals"]
    done = totals["people"] - totals["remaining"]
    if not batch["started_at"] or not done:
        return None
    minutes = (now - datetime.fromisoformat(batch["started_at"])).total_seconds() / 60
    return float(done / max(minutes, 1 / 60))


def _going(visit: Visit, batch: Mapping[str, Any], now: datetime) -> Html:
    words, totals = visit.words, batch["totals"]
    shown = [Tile(words["batches.people"], number(words, totals["people"]))]
    for name, tone in _TOTALS:
        if totals[name] or name in ("delivered", "failed", "remaining"):
            shown.append(
                Tile(
                    words[f"batches.total.{name}"],
                    number(words, totals[name]),
                    tone=tone if totals[name] else "",
                )
            )
    rows: list[tuple[str, Child]] = [(words["status"], status_badge(words, "batches", batch["status"]))]
    pace = pace_of(batch, now)
    if batch["status"] == "running" and pace is not None:
        rows.append(
            (words["batches.pace"], filled(words["batches.a_minute"], count=number(words, round(pace, 1))))
        )
        ends = now.astimezone(UTC) + timedelta(minutes=totals["remaining"] / pace)
        rows.append((words["batches.ends"], moment(ends)))
    rows += [
        (words["batches.started"], moment(batch["started_at"])),
        (words["batches.paused"], moment(batch["paused_at"], otherwise="") if batch["paused_at"] else None),
        (words["batches.completed"], moment(batch["completed_at"]) if batch["completed_at"] else None),
        (words["batches.cancelled"], moment(batch["cancelled_at"]) if batch["cancelled_at"] else None),
    ]
    live = (
        2
        if batch["status"] in _UNDER_WAY or (batch["status"] != "completed" and totals["remaining"])
        else None
    )
    return el(
        "div",
        section(words["batches.progress"], progress(words, batch), facts(*rows), id_="progress"),
        tiles(*shown),
        id="going",
        data_live=live,
    )


def _facts(visit: Visit, batch: Mapping[str, Any], names: Mapping[str, str], asked_by: str | None) -> Html:
    words = visit.words
    window, pacing = batch["window"], batch["pacing"] or {}
    hours: Child = None
    if window:
        days = ", ".join(words[f"batches.day.{day}"] for day in window["days"])
        zone = words.get(f"batches.zone.{window['timezone']}", window["timezone"])
        hours = join(el("bdi", f"{window['start']}–{window['end']}", dir="ltr"), " · ", days, " · ", zone)
    approval: Child = None
    if batch["approved_by"]:
        approval = join(
            el("bdi", names.get(batch["approved_by"], batch["approved_by"])),
            " ",
            moment(batch["approved_at"]),
        )
    elif asked_by:
        text = words["batches.asks"].replace("{name}", names.get(asked_by, asked_by))
        approval = badge(text, "warn")
    elif batch["needs_approval"]:
        approval = badge(words["batches.approval_missing"], "warn")
    shares = [
        f"{one['name']} {one['percent']} %" + (f" ({one['template']})" if one["template"] else "")
        for one in batch["variants"]
    ]
    per_minute = pacing.get("per_minute")
    return facts(
        (words["batches.template"], el("code", batch["template"], dir="ltr")),
        (words["batches.channel"], words.channel(batch["channel"])),
        (words["batches.category"], el("bdi", batch["category"])),
        (
            words["batches.filter"],
            el("code", batch["filter"], dir="ltr") if batch["filter"] else words["batches.by_list"],
        ),
        (
            words["batches.scheduled_for"],
            moment(batch["scheduled_for"], exact=True) if batch["scheduled_for"] else None,
        ),
        (words["batches.local_time"], batch["local_time"]),
        (words["batches.window"], hours),
        (words["batches.per_minute"], number(words, per_minute) if per_minute else None),
        (words["batches.ab_test"], ", ".join(shares)),
        (words["batches.approved_by"], approval),
        (words["batches.written_by"], el("bdi", names.get(batch["created_by"], batch["created_by"]))),
        (words["batches.id"], el("code", batch["id"], dir="ltr")),
    )


def _actions(visit: Visit, batch: Mapping[str, Any], asked_by: str | None) -> Child:
    words, reader, status = visit.words, visit.reader, batch["status"]
    if not visit.may("batches:write"):
        return status_badge(words, "batches", status)
    path = f"{HERE}/{batch['id']}"
    found: list[Child] = [status_badge(words, "batches", status)]

    def form(do: str, kind: str = "quiet") -> Html:
        return post_form(
            reader,
            f"{path}/{do}",
            hidden("version", str(batch["version"])),
            button(words[f"batches.do.{do}"], kind),
        )

    if status == "draft":
        found.append(link_button(words["batches.edit"], f"{path}/edit", "quiet"))
        if batch["needs_approval"] and batch["approved_by"] is None:
            if visit.caller.actor == batch["created_by"]:
                found.append(form("ask") if asked_by is None else None)
            else:
                found.append(form("approve"))
    found.append(form("clone"))
    if status in ("draft", "scheduled", "running", "paused"):
        found.append(
            confirm(
                words, reader, f"{path}/cancel", words["batches.do.cancel"], words["batches.cancel_question"]
            )
        )
    if status in ("scheduled", "running"):
        found.append(form("pause"))
    if status == "paused":
        found.append(form("resume", ""))
    if status == "draft":
        found.append(
            confirm(
                words,
                reader,
                f"{path}/start",
                words["batches.do.start"],
                words["batches.start_question"],
                kind="",
            )
        )
    return found


def _upload(visit: Visit, batch: Mapping[str, Any]) -> Html:
    words = visit.words
    field = el(
        "div",
        el("label", words["batches.file"], for_="file"),
        el(
            "input", type="file", name="file", id="file", accept=".csv,.jsonl,.ndjson,text/csv", required=True
        ),
        el("p", words["batches.file_hint"], class_="hint"),
        class_="field",
    )
    buttons = el(
        "div",
        button(words["batches.file_try"], "quiet", name="do", value="try"),
        button(words["batches.file_take"], "quiet", name="do", value="take"),
        class_="actions",
    )
    path = f"{HERE}/{batch['id']}/upload"
    form = post_form(visit.reader, path, field, buttons, enctype="multipart/form-data")
    return section(words["batches.by_list"], form, id_="upload")


def _upload_report(visit: Visit, report: Mapping[str, Any]) -> Html:
    words = visit.words
    shown = [
        Tile(words[f"batches.lines.{name}"], number(words, report[name]))
        for name in ("lines", "added", "changed", "unchanged", "refused")
    ]
    lines = [
        el(
            "li",
            el("strong", words["batches.line"].replace("{line}", str(one["line"]))),
            el("code", one["column"], dir="ltr") if one["column"] else None,
            said(one["what"]),
        )
        for one in report["first_problems"]
    ]
    if report["dry_run"]:
        lines.insert(0, el("li", words["batches.tried"]))
    return section(
        words["batches.upload_report"],
        tiles(*shown),
        el("ul", lines, class_="rows") if lines else None,
        id_="report",
    )


def _test(visit: Visit, batch: Mapping[str, Any]) -> Html:
    words = visit.words
    people = area_field(
        "recipients",
        words["batches.test_people"],
        rows=2,
        hint=words["batches.test_hint"],
        required=True,
        dir="ltr",
        spellcheck="false",
        placeholder="rcp_…",
    )
    share: Child = None
    if batch["variants"]:
        options = [("0", words["batches.as_it_is"])]
        options += [(str(place), one["name"]) for place, one in enumerate(batch["variants"], 1)]
        share = select_field("variant", words["batches.ab_test"], options)
    form = post_form(
        visit.reader, f"{HERE}/{batch['id']}/test", people, share, button(words["batches.test"], "quiet")
    )
    return section(words["batches.test"], form, id_="test")
