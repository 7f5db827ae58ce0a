"""`tidings template publish`: a key alone means the drafts of all its channels."""

from typing import Any

from tests.unit.cli.conftest import PlayedApi, Types


def _line(channel: str, status: str, owner: str = "tenant") -> dict[str, Any]:
    return {
        "key": "welcome_guest",
        "channel": channel,
        "owner": owner,
        "category": "transactional",
        "latest_version": "1.0.1",
        "latest_status": status,
    }


def _published(api: PlayedApi) -> list[str]:
    return [call for call, _, _ in api.heard if call.endswith("/publish")]


def test_a_key_alone_publishes_the_drafts_of_all_its_channels(api: PlayedApi, types: Types) -> None:
    lines = [_line("sms", "draft"), _line("email", "draft"), _line("push", "active")]
    api.read = lambda call: call.partition("?")[0]
    api.answers = {"GET /api/v1/templates": (200, {"items": [*lines, _line("voice", "draft", "platform")]})}
    api.answers |= {
        f"POST /api/v1/templates/welcome_guest/{channel}/versions/1.0.1/publish": (200, {"semver": "1.0.1"})
        for channel in ("email", "sms")
    }
    printed = types("template", "publish", "welcome_guest")

    assert printed.code == 0, printed.err
    assert printed.out.splitlines() == [
        "published  welcome_guest/email  1.0.1",
        "published  welcome_guest/sms  1.0.1",
    ]
    assert len(_published(api)) == 2


def test_without_a_draft_nothing_is_published(api: PlayedApi, types: Types) -> None:
    api.read = lambda call: call.partition("?")[0]
    api.answers = {"GET /api/v1/templates": (200, {"items": [_line("sms", "active")]})}
    printed = types("template", "publish", "welcome_guest")

    assert printed.code == 1
    assert "welcome_guest has no draft in any channel" in printed.err


def test_a_number_needs_a_channel(api: PlayedApi, types: Types) -> None:
    printed = types("template", "publish", "welcome_guest", "--version", "1.0.0")

    assert printed.code == 1
    assert "welcome_guest/email" in printed.err
    assert not api.heard


def test_a_mistake_of_the_server_names_the_request_that_it_is_logged_under(
    api: PlayedApi, types: Types
) -> None:
    api.read = lambda call: call.partition("?")[0]
    detail = "Something went wrong on our side; it was logged under this request id."
    problem = {"status": 500, "code": "internal", "detail": detail, "request_id": "req_0123"}
    api.answers = {"GET /api/v1/templates": (500, problem)}
    printed = types("template", "publish", "welcome_guest")

    assert printed.code == 1
    assert printed.err == (
        "tidings: Something went wrong on our side; it was logged under this request id: req_0123\n"
    )
