"""Commands that are made from the table of operations: one for each, with its parameters, its version and its answer."""

from pathlib import Path
from typing import Any

import pytest
import typer
from tools.client_operations import singular

from tests.unit.cli.conftest import PlayedApi, Types
from tidings.cli.main import COMMANDS, app
from tidings.cli.resource import COMMAND_NAMES
from tidings_client.operations import table

#: What people type for a resource, where it is not the same word in the singular.
_TYPED = {
    "imports": "imports",
    "tenant": "own-tenant",
    "callbacks": "callbacks",
    "preferences": "preferences",
    "tenant-settings": "tenant-settings",
}
_TYPED |= {
    "status-map": "status-map",
    "statistics": "statistics",
    "weights": "weights",
    "policies": "policy",
    "categories": "category",
    "batches": "batch",
}
#: Resources whose commands work on the database itself.
_ON_THE_DATABASE = {"api-keys", "audit", "callbacks", "tenants"}
LAYOUT = {
    "name": "plain",
    "text": "{{> body}}",
    "updated_by": "key_1",
    "version": 4,
    "updated_at": "2026-11-15T12:00:00.5Z",
}
HOME = "/api/v1/layouts"


def command_of(resource: str) -> Any:
    """The command of a resource."""
    return typer.main.get_command(app).commands[_TYPED.get(resource, singular(resource))]  # type: ignore[attr-defined]


@pytest.mark.parametrize("resource", sorted({one.resource for one in table().values()}))
def test_every_resource_of_the_document_has_its_command(resource: str, types: Types) -> None:
    name = _TYPED.get(resource, singular(resource))

    assert name in COMMANDS
    assert types(name, "--help").code == 0
    if resource not in {*_ON_THE_DATABASE, "spend"}:
        assert {one.verb for one in table().values() if one.resource == resource} == set(
            COMMAND_NAMES[resource]
        )
        assert {name for name in COMMAND_NAMES[resource].values() if name} <= set(
            command_of(resource).commands
        )


def test_what_is_missing_or_broken_is_named_by_its_option(
    api: PlayedApi, types: Types, tmp_path: Path
) -> None:
    (tmp_path / "body.json").write_text("[]")
    missing = types("layout", "put", "plain")
    broken = types("layout", "put", "plain", "--file", str(tmp_path / "body.json"))
    wrong = types("recipient", "change", "rcp_1", "--attributes", "{")

    assert "say --text …, or name a file" in missing.err
    assert "must hold one JSON object" in broken.err
    assert "--attributes must be JSON" in wrong.err
    assert api.heard == []


def test_a_file_is_printed_or_kept(api: PlayedApi, types: Types, tmp_path: Path) -> None:
    api.answers["GET /api/v1/imports/imp_1/report"] = (200, b"line,why\n")
    kept = types("imports", "report", "imp_1", "--out", str(tmp_path / "report.csv"))

    assert (kept.code, (tmp_path / "report.csv").read_bytes()) == (0, b"line,why\n")


def test_the_platforms_own_is_asked_with_its_key(api: PlayedApi, types: Types) -> None:
    api.answers["GET /internal/v1/platform-suppressions?limit=50"] = (200, {"items": []})
    api.answers["GET /internal/v1/router/weights"] = (200, {"items": []})

    assert types("platform-suppression", "list").code == types("weights", "list", "--platform").code == 0
    assert {headers["authorization"] for _, headers, _ in api.heard} == {"Bearer tdk_platform_key"}


def test_no_command_offers_to_complete_itself() -> None:
    """Completion is no part of `tidings`: a group that is imported when it runs does not bring its own."""
    commands: Any = typer.main.get_command(app)
    options = {option for name in COMMANDS for one in commands.commands[name].params for option in one.opts}

    assert {one for one in options if "completion" in one} == set()
