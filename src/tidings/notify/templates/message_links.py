"""The links that messages carry by themselves, and what is wrong with a text that shows them where there are none."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.render.model import RenderFailed
from tidings.notify.templates.expand.source_map import SourcePosition
from tidings.notify.templates.faults import Fault

Node = Mapping[str, Any]
_NAMES: Final = ("@links.unsubscribe", "@links.preferences")
_FILE_LINE: Final = re.compile(r"^(.+?)(?::([0-9]+))?\Z")
_GUARDS: Final = frozenset({"if", "with"})


def has_links(category: CategoryPolicy) -> bool:
    """Whether messages of a category have `@links.unsubscribe` and `@links.preferences`; otherwise they are empty."""
    return category.can_unsubscribe


def empty_link(failed: RenderFailed, category: CategoryPolicy | None) -> Fault | None:
    """The fault of a message that failed because a link of ours is empty in its category; None for any other failure."""
    name = expression_of(failed)
    if failed.code != "link_not_allowed" or name not in _NAMES or category is None or has_links(category):
        return None
    return Fault(
        f"{{{{{name}}}}} is empty in messages of the category {category.category}, which nobody can unsubscribe "
        "from: every message would fail",
        f"set the link inside {{{{#if {name}}}}}…{{{{/if}}}}, or choose a category that can be unsubscribed from",
    )


def expression_of(failed: RenderFailed) -> str:
    """The expression that a rendering failed at, without its braces; empty where it is not known."""
    return failed.place.rpartition(":")[2]


def written_at(failed: RenderFailed, place: SourcePosition) -> SourcePosition:
    """Where the expression that a rendering failed at was written; `place` where that is not known."""
    found = _FILE_LINE.match(failed.place.rpartition(":")[0])
    if found is None:
        return place
    return replace(place, file=found[1], line=int(found[2]) if found[2] else None)


def link_warnings(tree: Node, category: str) -> Iterator[Fault]:
    """Every use of our links in a text of such a category that no condition on the link stands around."""
    waiting: list[tuple[Node, frozenset[str]]] = [(tree, frozenset())]
    while waiting:
        program, guarded = waiting.pop()
        for statement in program["body"]:
            for name in _named(statement):
                if name not in guarded:
                    start = statement["loc"]["start"]
                    yield Fault(
                        f"{{{{{name}}}}} is empty in messages of the category {category}, which nobody can "
                        "unsubscribe from",
                        f"set it inside {{{{#if {name}}}}}…{{{{/if}}}}, or take it away",
                        severity="warning",
                        line=start["line"],
                        column=start["column"] + 1,
                    )
            inside = guarded
            if statement["type"] == "BlockStatement" and statement["path"].get("original") in _GUARDS:
                inside = guarded | {str(p.get("original")) for p in statement["params"]}
            waiting += [
                (part, inside if name == "program" else guarded)
                for name in ("program", "inverse")
                if (part := statement.get(name))
            ]


def _named(statement: Node) -> Iterator[str]:
    """Our links that a statement prints or passes on; a condition only asks whether they are there."""
    if statement["type"] != "MustacheStatement":
        return
    for node in (statement["path"], *statement["params"]):
        if node.get("original") in _NAMES:
            yield str(node["original"])
