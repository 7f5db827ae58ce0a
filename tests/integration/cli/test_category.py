"""`tidings category`: what is typed, stored and printed."""

import json

from tests.integration.templates.drafts import draft
from tests.support.cli import ServedApi, Types
from tidings.kernel.ids import TenantId

_STAYS = ("category", "create", "stays", "--use-case", "txn", "--name", "en=Your stay")


def test_the_list_has_a_line_for_each(types: Types) -> None:
    types(*_STAYS)
    listed = types("category", "list").out.splitlines()

    assert "stays  tenant  txn  can unsubscribe  en=Your stay" in listed
    assert len(listed) == len(json.loads(types("category", "list", "--json").out))


def test_one_is_made_with_names_and_policy(types: Types) -> None:
    printed = types(*_STAYS, "--no-unsubscribe")
    made = json.loads(types("category", "show", "stays", "--json").out)

    assert printed.code == 0, printed.err
    assert {name: made[name] for name in ("category", "use_case", "names", "can_unsubscribe")} == {
        "category": "stays",
        "use_case": "txn",
        "names": {"en": "Your stay"},
        "can_unsubscribe": False,
    }
    assert (
        "--name must be NAME=VALUE"
        in types("category", "create", "x_y", "--use-case", "txn", "--name", "Stay").err
    )


def test_hiding_changes_the_version_that_was_read(types: Types) -> None:
    types(*_STAYS)
    types("category", "change", "stays", "--position", "3")
    before = json.loads(types("category", "show", "stays", "--json").out)
    printed = types("category", "hide", "stays")
    after = json.loads(types("category", "show", "stays", "--json").out)

    assert printed.code == 0, printed.err
    assert (before["hidden"], after["hidden"]) == (False, True)
    assert after["version"] == before["version"] + 1
    assert "hidden" in printed.out


def test_a_warning_of_the_api_is_printed(api: ServedApi, tenant_id: TenantId, types: Types) -> None:
    """A template shows a link that is empty from now on."""
    types(*_STAYS)
    home = "/api/v1/templates/stay/email/versions"
    words = {"format": "text", "subject": "Stay", "body": "Stop: {{@links.unsubscribe}}"}

    async def publish() -> int:
        async with api.http.as_tenant(tenant_id) as client:
            made = await client.post(home, json=draft(category="stays", locales={"en": words}))
            assert made.status_code == 201, made.text
            return (await client.post(f"{home}/1.0.0/publish")).status_code

    assert api.run(publish()) == 200
    printed = types("category", "change", "stays", "--no-unsubscribe")

    assert printed.code == 0, printed.err
    assert "  warning: stay/email shows @links" in printed.out


def test_a_change_says_what_changes(api: ServedApi, types: Types) -> None:
    before = len(api.answered)

    assert "say what is different" in types("category", "change", "stays").err
    assert len(api.answered) == before
