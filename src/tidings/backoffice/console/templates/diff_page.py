"""What is different between two versions, word by word."""

import json
from collections.abc import Mapping
from typing import Any

from tidings.backoffice.console.frame import page
from tidings.backoffice.console.html import Child, el, join
from tidings.backoffice.console.kit.differences import marked
from tidings.backoffice.console.kit.marks import badge, empty, section
from tidings.backoffice.console.templates.paths import HERE, template_path
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply


def diff_page(visit: Visit, key: str, channel: str, found: Mapping[str, Any]) -> Reply:
    """Each field that differs: what was taken out is struck through, what came in is marked."""
    words = visit.words
    heading = f"{words['templates.compare']}: {found['from_version']}, {found['to_version']}"
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


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
