"""`tidings template list|customise|archive|restore|diff --platform`: what is typed, asked and printed."""

from pathlib import Path
from typing import Any

from tests.support.bundles import bundle
from tests.unit.cli.conftest import PlayedApi, Types
from tidings.cli.template_folder import write_folder
from tidings.notify.templates.bundle.write import pack


def _line(owner: str, **facts: Any) -> dict[str, Any]:
    return {
        "key": "otp",
        "channel": "email",
        "owner": owner,
        "category": "security",
        "active_version": "1.3.0" if owner == "platform" else "1.0.0",
        "latest_version": "1.0.0",
        "latest_status": "active",
        **facts,
    }


MINE = _line("tenant", customised_from="1.2.0", platform_newer="1.3.0")
LIST = "GET /api/v1/templates"


def test_the_list_says_whose_and_where_the_platform_has_a_newer_one(api: PlayedApi, types: Types) -> None:
    api.read = lambda call: call.partition("?")[0]
    api.answers = {LIST: (200, {"items": [_line("platform"), MINE]})}
    printed = types("template", "list")

    assert printed.code == 0, printed.err
    assert printed.out.splitlines() == [
        "otp/email  platform  security  1.3.0 in force",
        "otp/email  tenant  security  1.0.0 in force; customised from the platform's 1.2.0; "
        "platform_newer: 1.3.0 (`tidings template diff --platform otp/email`)",
    ]


def test_customise_copies_every_channel_of_a_key(api: PlayedApi, types: Types) -> None:
    api.read = lambda call: call.partition("?")[0]
    answer = {"key": "otp", "channel": "email", "customised_from": "1.3.0", "draft": "1.1.0"}
    api.answers = {
        LIST: (200, {"items": [_line("platform"), MINE]}),
        "POST /api/v1/templates/otp/email/customise": (201, answer),
    }
    printed = types("template", "customise", "otp")
    noted = types("template", "customise", "otp/email", "--note-only")

    assert printed.out.splitlines()[0] == "draft  otp/email  1.1.0  from the platform's 1.3.0"
    assert api.body_of("POST /api/v1/templates/otp/email/customise") == {"note_only": True}
    assert noted.code == 0


def test_archive_and_restore_name_one_channel(api: PlayedApi, types: Types) -> None:
    api.answers = {
        "POST /api/v1/templates/otp/email/archive": (200, {"active_version": "1.0.0"}),
        "POST /api/v1/templates/otp/email/restore": (200, {"active_version": "1.0.0"}),
    }

    assert types("template", "archive", "otp/email").out == "archived  otp/email\n"
    assert types("template", "restore", "otp/email").out == "restored  otp/email  1.0.0 in force\n"
    assert "say for which channel" in types("template", "archive", "otp").err


def test_the_difference_to_the_platforms_is_printed(api: PlayedApi, types: Types) -> None:
    api.read = lambda call: call.partition("?")[0]
    patch = "--- 1.3.0/en/subject\n+++ 1.0.0/en/subject\n-Your code\n+Our code\n"
    api.answers = {
        LIST: (200, {"items": [_line("platform"), MINE]}),
        "GET /api/v1/templates/otp/email/versions": (
            200,
            {"items": [{"semver": "1.0.0", "status": "active"}]},
        ),
        "GET /api/v1/templates/otp/email/diff": (
            200,
            {"from_version": "1.3.0", "to_version": "1.0.0", "changes": [{}], "unified": patch},
        ),
    }
    printed = types("template", "diff", "--platform", "otp/email")

    assert printed.code == 1
    assert "otp/email: the platform's 1.3.0 → yours 1.0.0" in printed.out
    assert "+Our code" in printed.out
    assert any("from_owner=platform" in call for call, _, _ in api.heard)


def test_diff_of_a_template_that_is_nowhere_says_so(api: PlayedApi, types: Types, tmp_path: Path) -> None:
    api.read = lambda call: call.partition("?")[0]
    api.answers = {"GET /api/v1/templates/export": (200, pack(bundle()))}
    here = tmp_path / "texts"
    write_folder(here, bundle())
    same = types("template", "diff", "welcome", "--folder", str(here))
    nowhere = types("template", "diff", "nonexistent", "welcome/sms", "--folder", str(here))

    assert (same.code, same.out) == (0, "")
    assert (nowhere.code, nowhere.out) == (1, "")
    assert nowhere.err == (
        f"tidings: there is no template nonexistent and no welcome/sms, neither in {here}/templates nor on the server; "
        "`tidings template list` shows those there are\n"
    )


def test_names_that_windows_keeps_for_itself_are_not_written(
    api: PlayedApi, types: Types, tmp_path: Path
) -> None:
    api.read = lambda call: call.partition("?")[0]
    files = {path.replace("/welcome/", "/aux.x/"): raw for path, raw in bundle().items()}
    api.answers = {"GET /api/v1/templates/export": (200, pack(files))}
    printed = types("template", "pull", "--folder", str(tmp_path / "texts"))

    assert printed.code == 1
    assert "templates/aux.x/email/" in printed.err
    assert "is named aux.x, which no file can be called on Windows" in printed.err
    assert "name the templates to pull" in printed.err
    assert not (tmp_path / "texts").exists()
