"""What commands print: nothing that a terminal would obey, and no key."""

import json
from contextlib import ExitStack

from tidings.cli.api_command import Api
from tidings.cli.command import Output
from tidings.cli.printing import json_text


def test_json_has_no_control_and_no_turn_of_direction_as_it_is() -> None:
    value = {"name": "a\x1b\x7f\x9b31m\u2028\u202eb\u2066 Zoë\n"}

    text = json_text(value)

    assert json.loads(text) == value
    assert text == '{\n  "name": "a\\u001b\\u007f\\u009b31m\\u2028\\u202eb\\u2066 Zoë\\n"\n}'


def test_no_repr_shows_a_key() -> None:
    with ExitStack() as stack:
        api = Api(
            stack=stack, url=None, key="tdk_secret", tenant=None, data_dir=None,
            as_json=False, platform=False, platform_key=False,
        )  # fmt: skip
        made = Output({"key": "tdk_secret"}, ["tdk_secret"])

        assert "tdk_secret" not in repr(api) + repr(made)
