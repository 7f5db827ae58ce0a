"""What is different between two versions, word by word."""

import json
import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any, Final

from tidings.backoffice.console.frame import page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.marks import badge, empty, section
from tidings.backoffice.console.templates.paths import HERE, template_path
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

_WORDS: Final = re.compile(r"\s+|[^\W\d_]+|\d+|.", re.DOTALL)
#: Beyond that, comparing word by word takes too long, and lines are compared.
_MOST_WORDS: Final = 3000
#: So many characters of what is the same stand around a difference.
_AROUND: Final = 240


def diff_page(visit: Visit, key: str, channel: str, found: Mapping[str, Any]) -> Reply:
    """Each field that differs: what was taken out is struck through, what came in is marked."""
    words = visit.words
    heading = f"{found['from_version']} → {found['to_version']}"
    parts: list[Child] = []
    gone, new = found["locales_removed"], found["locales_added"]
    if gone or new:
        tags = [*(badge(f"− {tag}", "bad") for tag in gone), *(badge(f"+ {tag}", "good") for tag in new)]
        parts.append(
            section(words["templates.languages"], el("p", join(*tags, between=" ")), id_="languages")
        )
    for place, one in enumerate(found["changes"]):
        title = f"{one['locale']} · {one['field']}" if one["locale"] else one["field"]
        shown = el(
            "pre", marked(_text(one["before"]), _text(one["after"])), dir="auto", class_="diff", tabindex="0"
        )
        parts.append(section(title, shown, id_=f"change-{place}"))
    body: Child = parts or empty(words["templates.no_difference"])
    return page(
        words,
        heading,
        body,
        reader=visit.reader,
        here=HERE,
        trail=[
            (words["templates.title"], HERE),
            (f"{key} · {words.channel(channel)}", template_path(key, channel)),
        ],
    )


def marked(before: str, after: str) -> Html:
    """The text with what went out in `del` and what came in in `ins`."""
    return join(*_pieces(before, after))


def _pieces(before: str, after: str) -> Iterator[Child]:
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if len(old) + len(new) > _MOST_WORDS:
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    last = None
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        gone, came = "".join(old[a:b]), "".join(new[c:d])
        if kind == "equal":
            yield _short(gone, is_first=last is None, is_last=b == len(old) and d == len(new))
        else:
            yield el("del", gone) if gone else None
            yield el("ins", came) if came else None
        last = kind


def _short(text: str, *, is_first: bool, is_last: bool) -> str:
    if is_first and len(text) > _AROUND:
        return f"…{text[-_AROUND:]}"
    if is_last and len(text) > _AROUND:
        return f"{text[:_AROUND]}…"
    if len(text) > 2 * _AROUND:
        return f"{text[:_AROUND]}\n…\n{text[-_AROUND:]}"
    return text


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
