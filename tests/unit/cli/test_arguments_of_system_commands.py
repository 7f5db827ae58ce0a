"""Commands on the database refuse what was typed wrong before they open it."""

import pytest

from tests.unit.cli.conftest import Types


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("bootstrap --new-key --no-key", 2, "--new-key and --no-key contradict each other"),
        ("api-key create first --platform --scope all", 1, "--scope all is unknown"),
        ("api-key create first", 1, "say whose key"),
        ("flags set some_flag maybe --reason x", 1, "the value must be on, off or a percentage"),
        ("dead-letters replay", 1, "name the dead letters by their ids"),
        ("dead-letters discard dlt_1 --all", 1, "name the dead letters by their ids"),
        ("callbacks requeue", 1, "name them by their ids"),
        ("callbacks requeue mo_1 whe_1", 1, "and not both at once"),
        ("callbacks requeue whe_1", 1, "`tidings callbacks messages` show those there are"),
        ("callbacks requeue --vendor http --since yesterday", 1, "--since must be a time"),
        ("callbacks list --since yesterday", 1, "--since must be a time"),
    ],
)
def test_no_database_is_needed_to_refuse(types: Types, words: str, code: int, said: str) -> None:
    """Nothing listens at this address."""
    done = types(*words.split(), "--database-url", "postgresql://tidings@127.0.0.1:1/none")

    assert (done.code, said in done.err) == (code, True), done.err
