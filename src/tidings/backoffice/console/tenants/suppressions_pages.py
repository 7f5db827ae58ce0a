"""What is suppressed for all tenants: addresses and mail domains that nobody writes to."""

from typing import Any, Final

from tidings.backoffice.console.frame import Told, page, redirect
from tidings.backoffice.console.html import Child, Html, el
from tidings.backoffice.console.kit.forms import (
    button,
    confirm,
    field_row,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import code, empty, moment, section, status_badge
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.kit.typed import Typed, given, text
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

HERE: Final = "/console/platform-suppressions"
platform_suppressions_pages = Resource(
    "console-platform-suppressions", at=HERE, tag="console", owner=Owner.PUBLIC, of_backoffice=True
)

_HTML: Final = "text/html"
_API: Final = "/internal/v1/platform-suppressions"
_CHANNELS: Final = ("email", "sms", "whatsapp", "telegram", "viber", "voice")

Row = dict[str, Any]


@platform_suppressions_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_for_all(request: Request, visits: Visits) -> Reply:
    """All of them."""
    return await _shown(await visits.open(request))


@platform_suppressions_pages.post("/", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def suppress_for_all(request: Request, visits: Visits) -> Reply:
    """Let nobody write there."""
    visit, fields = await visits.posted(request, writes=True)
    body = given(
        channel=text(fields, "channel"),
        address=text(fields, "address"),
        mail_domain=text(fields, "mail_domain"),
        notes=text(fields, "notes"),
    )
    try:
        await visit.api.post(_API, body)
    except ApiProblemError as error:
        # The address goes into no page.
        kept = {name: fields.get(name, "") for name in ("channel", "mail_domain", "notes")}
        return await _shown(visit, error, typed=Typed(fields=kept, errors=error.errors))
    return redirect(f"{HERE}?told=suppressed_for_all")


@platform_suppressions_pages.post("/{suppression_id}/release", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def release_for_all(request: Request, suppression_id: str, visits: Visits) -> Reply:
    """Let tenants write there again."""
    visit, fields = await visits.posted(request, writes=True)
    await visit.api.call(
        "DELETE", at(f"{_API}/{{}}", suppression_id), query={"reason": text(fields, "reason")}
    )
    return redirect(f"{HERE}?told=released_for_all")


async def _shown(visit: Visit, error: ApiProblemError | None = None, *, typed: Typed | None = None) -> Reply:
    found = await visit.api.get(_API, cursor=visit.query.get("cursor"))
    told = visit.refused(error) if error else visit.told()
    return _page(visit, found, told=told, typed=typed or Typed(), status=error.status if error else 200)


def _page(visit: Visit, found: Row, *, told: Told | None, typed: Typed, status: int) -> Reply:
    words = visit.words

    def release(one: Row) -> Html | None:
        if one["released_at"] or not visit.may("suppressions:write"):
            return None
        reason = text_field("reason", words["tenants.reason"], maxlength=500, id_=f"reason-{one['id']}")
        return confirm(
            words,
            visit.reader,
            f"{HERE}/{one['id']}/release",
            words["tenants.release"],
            words["tenants.release_question"],
            fields=reason,
        )

    listed = table(
        words["tenants.suppressions"],
        [
            Column[Row](
                words["tenants.what"],
                lambda one: code(one["mail_domain"]) if one["mail_domain"] else words["tenants.an_address"],
            ),
            Column[Row](words["tenants.channel"], lambda one: words.channel(one["channel"])),
            Column[Row](
                words["tenants.reason"], lambda one: el("span", one["reason"].replace("_", " "), lang="en")
            ),
            Column[Row](words["tenants.notes"], lambda one: el("bdi", one["notes"] or "–"), "grow"),
            Column[Row](words["tenants.since"], lambda one: moment(one["created_at"])),
            Column[Row](
                words["status"],
                lambda one: status_badge(words, "tenants", "released" if one["released_at"] else "in_force"),
            ),
            Column[Row]("", release),
        ],
        found["items"],
        empty=empty(words["tenants.no_suppressions"], words["tenants.no_suppressions_hint"]),
    )
    parts: list[Child] = [
        el("section", listed, class_="card", aria_label=words["tenants.suppressions"]),
        pager(words, HERE, {"cursor": visit.query.get("cursor")}, found.get("next_cursor")),
    ]
    if visit.may("suppressions:write"):
        form = post_form(
            visit.reader,
            HERE,
            field_row(
                select_field(
                    "channel",
                    words["tenants.channel"],
                    [(one, words.channel(one)) for one in _CHANNELS],
                    typed.value("channel"),
                ),
                text_field(
                    "address",
                    words["tenants.address"],
                    error=typed.fault("address"),
                    maxlength=320,
                    dir="ltr",
                    autocomplete="off",
                ),
                text_field(
                    "mail_domain",
                    words["tenants.mail_domain"],
                    typed.value("mail_domain"),
                    error=typed.fault("mail_domain"),
                    maxlength=253,
                    dir="ltr",
                ),
            ),
            text_field(
                "notes",
                words["tenants.notes"],
                typed.value("notes"),
                error=typed.fault("notes"),
                hint=words["tenants.notes_hint"],
                maxlength=500,
            ),
            button(words["tenants.suppress"]),
        )
        parts.append(section(words["tenants.suppress"], form, id_="new"))
    return page(
        words, words["tenants.suppressions"], parts, reader=visit.reader, here=HERE, told=told, status=status
    )
