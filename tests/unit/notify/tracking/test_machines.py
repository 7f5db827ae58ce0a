"""Who says of itself that it is no person."""

import pytest

from tidings.notify.tracking.bot_detection import is_machine

PHONE = "Mozilla/5.0 (Linux; Android 14; CUBOT X90) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Mobile Safari/537.36"


@pytest.mark.parametrize(
    "agent",
    [
        "",
        "Mozilla/5.0",
        "curl/8.5.0",
        "python-requests/2.32",
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        "Slackbot-LinkExpanding 1.0",
        "Barracuda Sentinel (EE)",
        "Mozilla/5.0 (Windows NT 10.0) BingPreview/1.0b",
    ],
)
def test_machines(agent: str) -> None:
    assert is_machine(agent)


@pytest.mark.parametrize(
    "agent",
    [
        PHONE,
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)",
        # It loads a picture when somebody opens the mail, and not before.
        "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)",
    ],
)
def test_people(agent: str) -> None:
    assert not is_machine(agent)


def test_whoever_looks_ahead_is_none_yet() -> None:
    assert is_machine(PHONE, ["prefetch;prerender"])
    assert not is_machine(PHONE, ["navigate"])
