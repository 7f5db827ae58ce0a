"""Every kind of vendor has its page, with every setting, and the index leads to it."""

import json
import re

import msgspec
import pytest

from tests.support.generated_docs import DOCS
from tidings.router.adapters.http_settings import HttpAccount
from tidings.router.adapters.kind import AdapterKind
from tidings.router.adapters.registry import ADAPTERS

INDEX = DOCS / "vendors" / "README.md"
#: One line of the index: the page, the adapter, its channels.
_LINE = re.compile(r"^\| \[[^\]]+\]\(([^)]+)\) \| `([a-z_]+)` \| ([^|]+) \|", re.MULTILINE)
#: What every account over HTTP has, told once for all.
_SHARED = {field.name for field in msgspec.structs.fields(HttpAccount)}


def listed() -> dict[str, tuple[str, str]]:
    """Page and channels by adapter."""
    return {name: (page, channels.strip()) for page, name, channels in _LINE.findall(INDEX.read_text())}


def test_the_index_has_every_kind_with_its_channels() -> None:
    ours = {
        name: set(kind.channels)
        for name, kind in ADAPTERS.items()
        if kind.make.__module__.startswith("tidings.")
    }
    found = {
        name: ours.get(name, set()) if channels == "all" else set(channels.split(", "))
        for name, (_, channels) in listed().items()
    }

    assert found == ours


@pytest.mark.parametrize("kind", ADAPTERS.values(), ids=lambda kind: kind.name)
def test_a_page_has_every_setting_and_an_example_that_fits(kind: AdapterKind) -> None:
    text = (INDEX.parent / listed()[kind.name][0]).read_text()
    fields = {field.name: field.required for field in msgspec.structs.fields(kind.settings)}
    shown = re.search(r"^```json\n(.*?)^```", text, re.MULTILINE | re.DOTALL)

    assert [name for name in fields if name not in _SHARED and f"`{name}`" not in text] == []
    if shown is not None:
        given = {name.removesuffix("_ref") for name in json.loads(shown[1])}
        assert given <= fields.keys()
        assert {name for name, required in fields.items() if required} <= given
    assert f"--vendor {kind.name}" in text
