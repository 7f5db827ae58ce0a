"""How the script comes to a page, and what its package says."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.router_app import calling, router_app
from tidings import __version__
from tidings.kernel.clock import SystemClock
from tidings.notify.inbox.recipient_routes import inboxes
from tidings.notify.inbox.routes import own_inbox
from tidings.notify.inbox_component import routes
from tidings.notify.inbox_live.routes import own_inbox_live
from tidings.notify.inbox_preferences.routes import own_inbox_preferences

FOLDER = Path(routes.__file__).with_name("component")
SCRIPT = (FOLDER / "tidings-inbox.js").read_text(encoding="utf-8")
PREFERENCES = (FOLDER / "tidings-inbox-preferences.js").read_text(encoding="utf-8")
each_script = pytest.mark.parametrize(
    ("at", "script"),
    [("/assets/tidings-inbox.js", SCRIPT), ("/assets/tidings-inbox-preferences.js", PREFERENCES)],
    ids=["inbox", "preferences"],
)
TYPES = (FOLDER / "tidings-inbox.d.ts").read_text(encoding="utf-8")


@pytest.fixture
def app() -> Any:
    return router_app(routes.inbox_assets, clock=SystemClock())


@each_script
async def test_any_page_may_load_it_without_a_key(app: Any, at: str, script: str) -> None:
    async with calling(app, "nobody") as client:
        answer = await client.get(at, headers={"Origin": "https://shop.example"})
    assert (answer.status_code, answer.text) == (200, script)
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"


@each_script
async def test_it_travels_packed_where_the_browser_can_unpack(app: Any, at: str, script: str) -> None:
    async with calling(app, "nobody") as client:
        packed = await client.get(at, headers={"Accept-Encoding": "br, gzip"})
        plain = await client.get(at, headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.text == plain.text == script
    assert int(packed.headers["content-length"]) == len(gzip.compress(script.encode(), 9))
    assert "content-encoding" not in plain.headers


@each_script
async def test_it_is_kept_for_good_by_its_version_alone(app: Any, at: str, script: str) -> None:
    async with calling(app, "nobody") as client:
        answer = await client.get(at)
        version = answer.headers["etag"].strip('"')
        named = await client.get(f"{at}?v={version}")
        other = await client.get(f"{at}?v=0123456789abcdef")
        again = await client.get(at, headers={"If-None-Match": f'W/"{version}"'})
    assert answer.headers["cache-control"] == other.headers["cache-control"] == "public, max-age=300"
    assert "immutable" in named.headers["cache-control"]
    assert (again.status_code, again.content) == (304, b"")
    assert "content-length" not in again.headers


def test_pages_may_call_what_goes_by_the_token_and_nothing_else() -> None:
    of_people = [*own_inbox.operations, *own_inbox_live.operations, *own_inbox_preferences.operations]
    assert [one.path for one in of_people if not one.any_origin] == []
    assert [one.path for one in inboxes.operations if one.any_origin] == []


def test_the_types_name_what_the_script_has() -> None:
    observed = re.search(r"observedAttributes = \[([^\]]+)\]", SCRIPT)
    assert observed is not None
    attributes = set(re.findall(r'"([\w-]+)"', observed[1]))
    attributes |= set(re.findall(r'(?:get|has)Attribute\("([\w-]+)"\)', SCRIPT))
    assert set(re.findall(r'^  "?([\w-]+)"?\?: .*; // attribute$', TYPES, re.MULTILINE)) == attributes | {
        "theme"
    }
    events = set(re.findall(r'"(tidings-[\w-]+)"', SCRIPT)) - {"tidings-inbox"}
    assert set(re.findall(r'^  "(tidings-[\w-]+)": CustomEvent', TYPES, re.MULTILINE)) == events
    public = set(
        re.findall(
            r"^  (?:get |set |async )?(\w+)\([\w, {}=]*\) \{$",
            SCRIPT.partition("class TidingsInbox")[2],
            re.MULTILINE,
        )
    )
    named = re.search(r"class TidingsInbox extends HTMLElement \{(.*?)^\}", TYPES, re.DOTALL | re.MULTILINE)
    assert named is not None
    inherited = {name for name in public if name.endswith("Callback")} | {"constructor", "addEventListener"}
    typed = set(re.findall(r"^  (?:readonly )?(\w+)[(:]", named[1], re.MULTILINE))
    assert typed - inherited == public - inherited


@pytest.mark.parametrize("script", [SCRIPT, PREFERENCES], ids=["inbox", "preferences"])
def test_nothing_that_came_from_elsewhere_becomes_markup(script: str) -> None:
    assert (
        re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", script)
        == []
    )
    assert re.findall(r"^import\b|\brequire\(|from \"", script, re.MULTILINE) == []


def test_what_the_component_loads_is_in_the_package() -> None:
    loaded = re.findall(r"""import\("\./([\w.-]+)"\)""", SCRIPT)
    package = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    assert loaded == ["tidings-inbox-preferences.js"]
    assert set(loaded) <= set(package["files"])


def test_the_package_holds_the_files_that_it_names() -> None:
    package = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    named = {*package["files"], package["types"], package["exports"]["."]["default"]}
    assert all((FOLDER / name).exists() for name in named)
    assert package.get("dependencies") is None
    assert package["version"] == __version__.replace(".dev", "-dev.")
