"""What somebody was written, for a frame: HTML of a tenant's runs no script, loads nothing and leads nowhere."""

from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.html import Html, el, join
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

#: As strict as it can be: `sandbox` holds for the document itself, however it is opened.
HEADERS: Final = {
    "cache-control": "no-store",
    "content-security-policy": (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; form-action 'none'; "
        "base-uri 'none'; frame-ancestors 'self'"
    ),
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "x-robots-tag": "noindex",
}
#: What a plain text looks like; the page's own style does not reach into a frame.
_STYLE: Final = Html(
    "body{font:15px/1.5 system-ui,sans-serif;margin:16px;color:#1a212c;background:#fff;overflow-wrap:anywhere}"
    "pre{font:inherit;white-space:pre-wrap;margin:0}dt{color:#566273;font-size:13px}dd{margin:0 0 12px;font-weight:600}"
)


def body_page(visit: Visit, shown: Mapping[str, Any]) -> Reply:
    """The HTML as it is where there is some; otherwise the subject and the text."""
    if shown["html"]:
        return Reply(body=shown["html"].encode(), media_type="text/html", headers=HEADERS)
    words = visit.words
    subject = (
        el("dl", el("dt", words["notifications.subject"]), el("dd", shown["subject"]))
        if shown["subject"]
        else None
    )
    return _document(shown["direction"], join(subject, el("pre", shown["text"] or "")))


def missing_page(visit: Visit, text: str) -> Reply:
    """Why nothing is shown."""
    return _document(visit.words.direction, el("p", text))


def _document(direction: str, body: Html) -> Reply:
    head = el("head", el("meta", charset="utf-8"), el("style", _STYLE))
    html = el("html", head, el("body", body), dir=direction)
    return Reply(body=f"<!doctype html>\n{html}\n".encode(), media_type="text/html", headers=HEADERS)
