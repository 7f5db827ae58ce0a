"""Every kind of vendor has its page, with every setting, and the index leads to it."""

import json
import re

import msgspec
import pytest

from tests.support.generated_docs import DOCS
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import InvalidError
from tidings.kernel.secrets import Secret
from tidings.router.adapters.http_client.account import HttpAccount
from tidings.router.adapters.kind import AdapterKind
from tidings.router.adapters.registry import ADAPTERS, read_account

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
        if kind.adapter.__module__.startswith("tidings.")
    }
    found = {
        name: ours.get(name, set()) if channels == "all" else set(channels.split(", "))
        for name, (_, channels) in listed().items()
    }

    assert found == ours


class AnySecret:
    """The example behind one reference, and some text behind all those inside it."""

    def __init__(self, example: str) -> None:
        self._example = example

    async def resolve(
        self, ref: str, *, tenant_id: TenantId | None = None, field: str = "secret_ref"
    ) -> Secret:
        return Secret(self._example if ref == "file://example" else "x" * 40)


@pytest.mark.parametrize("kind", ADAPTERS.values(), ids=lambda kind: kind.name)
async def test_the_example_of_a_page_is_read_as_it_stands_there(kind: AdapterKind) -> None:
    """With its references, as what an account's `secret_ref` leads to; only what is left out with dots can be wrong."""
    text = (INDEX.parent / listed()[kind.name][0]).read_text()
    shown = re.search(r"^```json\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    if shown is None:
        assert kind.name == "fcm", "whose file comes from Google"
        return
    example = json.loads(shown[1])
    dotted = {name for name, value in example.items() if "…" in json.dumps(value, ensure_ascii=False)}
    wrong: set[str] = set()

    try:
        await read_account(kind.name, {"secret_ref": "file://example"}, AnySecret(shown[1]))
    except InvalidError as error:
        wrong = {one.field for one in error.errors}

    assert wrong <= dotted


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
