"""The versions of a policy: what each changed, and the way back to it."""

from collections.abc import Sequence
from difflib import ndiff
from typing import Any

from tidings.backoffice.console.frame import page
from tidings.backoffice.console.html import Html, el
from tidings.backoffice.console.kit.forms import confirm
from tidings.backoffice.console.kit.marks import moment, section
from tidings.backoffice.console.kit.tables import pager
from tidings.backoffice.console.policies.draft import STEP, fields_of
from tidings.backoffice.console.policies.editor_page import HERE
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.etags import etag

Row = dict[str, Any]


def versions_page(visit: Visit, policy: Row, found: Sequence[Row], next_cursor: str | None) -> Reply:
    """The newest first, each beside the one before."""
    words = visit.words
    path = f"{HERE}/{policy['id']}"
    name = words[f"policies.use_case.{policy['use_case']}"]
    parts = []
    for place, one in enumerate(found):
        before = found[place + 1]["policy"] if place + 1 < len(found) else None
        title = words["policies.version"].replace("{version}", str(one["version"]))
        back = None
        if one["version"] != policy["version"] and policy["deleted_at"] is None and visit.may("router:write"):
            back = confirm(
                words,
                visit.reader,
                f"{path}/rollback",
                words["policies.roll_back"],
                words["policies.roll_back_question"],
                hide={"version": str(one["version"]), "etag": etag(policy["version"])},
                kind="quiet",
                id_=f"back-{one['version']}",
            )
        who = el(
            "p",
            el("code", one["changed_by"], dir="ltr"),
            " · ",
            moment(one["changed_at"], exact=True),
            class_="soft",
        )
        is_last = next_cursor is None or before is not None
        shown = _diff(one["policy"], before) if is_last else el("p", "…")
        parts.append(section(title, who, shown, actions=back, id_=f"v{one['version']}"))
    parts.append(pager(words, f"{path}/versions", {"cursor": visit.query.get("cursor")}, next_cursor))
    return page(
        words,
        words["policies.versions"],
        parts,
        reader=visit.reader,
        here=HERE,
        trail=[(words["policies.title"], HERE), (name, path)],
        told=visit.told(),
    )


def _diff(after: Row, before: Row | None) -> Html:
    made = _lines(after)
    if before is None:
        return _shown([f"+ {line}" for line in made])
    changed = [line for line in ndiff(_lines(before), made) if line[0] in "+-"]
    return _shown(changed)


def _shown(lines: Sequence[str]) -> Html:
    marks = [el("ins" if line[0] == "+" else "del", line, "\n") for line in lines]
    return el("pre", marks, dir="ltr", tabindex="0")


def _lines(policy: Row) -> list[str]:
    """The policy as lines that can be compared: one for each thing that it says."""
    fields = fields_of(policy)
    count = len(policy["ladder"])
    said = [
        f"{name}: {value}" for name, value in fields.items() if "." not in name and value and name != "steps"
    ]
    for place in range(count):
        step = [f"{name} {fields[f's{place}.{name}']}" for name in STEP if fields[f"s{place}.{name}"]]
        said.append(f"step: {', '.join(step)}")
    return said
