"""Commands that are made from the table of operations: what is typed, stored and printed."""

import json
import re
from pathlib import Path

from tests.support.cli import ServedApi, Types
from tidings.kernel.ids import TenantId

_CREATE = ("recipient", "create", "--display-name", "Laila", "--identity", "type=guest")


def test_a_list_shows_its_columns_or_says_what_to_do_next(types: Types) -> None:
    nothing = types("layout", "list").out
    types("layout", "put", "plain", "--text", "{{> body}}")
    [shown] = types("layout", "list").out.splitlines()
    [raw] = json.loads(types("layout", "list", "--json").out)

    assert "`tidings layout put NAME --file layout.json` makes one" in nothing
    assert re.fullmatch(r"plain  1  \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  key_\w+", shown)
    assert raw["name"] == "plain"


def test_a_change_is_made_from_the_version_that_is_there(types: Types, tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text('{"text": "{{> body}} from the file"}')

    new = types("layout", "put", "plain", "--text", "{{> body}}")
    done = types("layout", "put", "plain", "--file", str(tmp_path / "body.json"))
    stale = types("layout", "put", "plain", "--text", "{{> body}} stale", "--if-match", "1")

    assert new.code == 0, new.err
    assert "version  2\n" in done.out
    assert stale.code == 1
    assert "{{> body}} from the file" in types("layout", "show", "plain").out


def test_fields_are_sent_as_their_types(types: Types) -> None:
    made = json.loads(types(*_CREATE, "--identity", "id=1", "--json").out)
    words = ("--tags", "vip", "--tags", "new", "--attributes", '{"floor": 3}')
    done = types("recipient", "change", made["id"], *words, "--json")
    pairs = types("recipient", "change", made["id"], "--attributes", "wing=east")

    assert done.code == 0, done.err
    assert sorted(json.loads(done.out)["tags"]) == ["new", "vip"]
    assert json.loads(done.out)["attributes"] == {"floor": 3}
    assert (pairs.code, "--attributes must be JSON" in pairs.err) == (1, True)


def test_pages_are_read_until_there_are_enough_lines(types: Types) -> None:
    for number in range(3):
        assert types(*_CREATE, "--identity", f"id={number}", "--tags", "vip").code == 0

    assert len(types("recipient", "list", "--tag", "vip").out.splitlines()) == 3
    assert len(types("recipient", "list", "--tag", "vip", "-n", "2").out.splitlines()) == 2


def test_a_choice_is_taken_in_any_case_and_checked_before_the_call(api: ServedApi, types: Types) -> None:
    before = len(api.answered)

    assert types("conversation", "list", "--status", "ajar").code == 2
    assert len(api.answered) == before
    assert types("conversation", "list", "--status", "Open").code == 0


def test_the_platforms_own_is_asked_with_its_key(types: Types, tenant_id: TenantId) -> None:
    assert types("platform-suppression", "list").code == 0
    assert types("weights", "list", "--platform").code == 0
    assert tenant_id in types("own-tenant", "show").out
