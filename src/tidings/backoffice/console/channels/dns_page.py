"""What the name servers say about the domain of mails, asked as the page is opened, with records to copy."""

from typing import Any

from tidings.backoffice.console.channels.channels_page import HERE
from tidings.backoffice.console.frame import page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import link_button
from tidings.backoffice.console.kit.marks import code, facts, moment, said, section, status_badge
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

Row = dict[str, Any]


def dns_page(visit: Visit, found: Row) -> Reply:
    """SPF, DKIM, DMARC and MX."""
    words = visit.words
    parts: list[Child] = [
        facts(
            (words["channels.domain"], code(found["domain"])),
            (words["status"], _mark(visit, found["status"])),
            (words["channels.checked"], moment(found["checked_at"])),
        )
    ]
    parts += [_finding(visit, one) for one in found["checks"]]
    return page(
        words,
        words["channels.dns"],
        parts,
        reader=visit.reader,
        here=HERE,
        trail=[
            (words["channels.title"], HERE),
            (words.channel("email"), f"{HERE}/email"),
        ],
        actions=link_button(words["channels.check_again"], f"{HERE}/email/dns", "quiet"),
    )


def _finding(visit: Visit, one: Row) -> Html:
    words = visit.words
    rows: list[tuple[str, Child]] = [
        (words["channels.looked_at"], code(one["name"])),
        (
            words["channels.published"],
            code(one["found"], copy=True) if one["found"] else words["channels.nothing"],
        ),
        (words["channels.means"], said(one["what"])),
        (words["channels.do"], said(one["how"]) if one["how"] else None),
    ]
    record = one.get("publish")
    if record:
        shown = join(
            code(record["name"], copy=True), el("br"), el("span", "TXT "), code(record["value"], copy=True)
        )
        rows.append((words["channels.publish"], shown))
    return section(one["check"].upper(), facts(*rows), actions=_mark(visit, one["status"]), id_=one["check"])


def _mark(visit: Visit, status: str) -> Html:
    tone = {"pass": "good", "warn": "warn", "fail": "bad"}.get(status, "off")
    return status_badge(visit.words, "channels", status, tone)  # type: ignore[arg-type]
