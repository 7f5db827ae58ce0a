"""Our table of MJML's components says what npm's MJML says."""

import re
from collections.abc import Iterator

import pytest

from tests.support.npm_mjml.running import NpmMjml, needs_npm_mjml, templates
from tidings.notify.templates.compile.lexer import pieces
from tidings.notify.templates.compile.mjml_schema import ATTRIBUTES, CHILDREN, EVERYWHERE, REFUSED

pytestmark = needs_npm_mjml

#: Take no attributes at all, and MJML does not look at them.
UNCHECKED = {"mjml", "mj-head", "mj-attributes", "mj-preview", "mj-title"}
#: Components of MJML that are refused with words of their own.
ELSEWHERE = {"mj-font", "mj-include"}
#: Where the compiler takes less than MJML.
NO_RAW = {name: {"mj-raw"} for name in ("mj-social", "mj-navbar", "mj-accordion", "mj-accordion-element")}


@pytest.fixture(scope="module")
def npm() -> Iterator[NpmMjml]:
    npm = NpmMjml()
    yield npm
    npm.close()


def within(name: str, inside: str) -> str:
    """A document in which something stands in an element."""
    while name:
        inside = f"<{name}>{inside}</{name}>"
        name = (
            next(parent for parent in CHILDREN if name in CHILDREN[parent] and parent != "mj-attributes")
            if name != "mjml"
            else ""
        )
    return inside


def test_each_component_has_the_attributes_that_it_has(npm: NpmMjml) -> None:
    names = sorted(set.union(*map(set, ATTRIBUTES.values())) | EVERYWHERE | {"no-such-attribute"})
    written = " ".join(f'{name}="x"' for name in names)
    for component in sorted(set(ATTRIBUTES) - UNCHECKED):
        parent = next(each for each in CHILDREN if component in CHILDREN[each])
        faults = npm.faults(within(parent, f"<{component} {written}></{component}>"))
        illegal = {
            name
            for tag, message in faults
            if tag == component and (found := re.match(r"Attributes? (.+) (?:is|are) illegal", message))
            for name in found[1].split(", ")
        }

        assert set(names) - illegal == ATTRIBUTES[component] | EVERYWHERE, component


def test_each_component_stands_where_it_may(npm: NpmMjml) -> None:
    components = sorted(set(ATTRIBUTES) | set(REFUSED) | ELSEWHERE)
    # MJML takes head and body out of the root, and looks at nothing else in it.
    for parent in sorted(set(CHILDREN) - {"", "mjml", "mj-attributes"}):
        inside = "".join(f"<{name}></{name}>" for name in components if name != "mjml")
        misplaced = {
            tag
            for tag, message in npm.faults(within(parent, inside))
            if f"cannot be used inside {parent}," in message
        }
        allowed = set(components) - misplaced - {"mjml"} - set(REFUSED) - ELSEWHERE

        assert allowed - NO_RAW.get(parent, set()) == CHILDREN[parent], parent


def test_no_component_is_forgotten(npm: NpmMjml) -> None:
    for name in (*ATTRIBUTES, *REFUSED):
        unknown = [message for _, message in npm.faults(within("mj-column", f"<{name}></{name}>"))]
        assert not any("doesn't exist" in message for message in unknown), name


def test_the_templates_have_every_component() -> None:
    used = {piece.name for text in templates().values() for piece in pieces(text) if piece.kind == "open"}

    assert set(ATTRIBUTES) - used == set()
