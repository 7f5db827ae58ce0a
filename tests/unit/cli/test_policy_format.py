"""A policy in words."""

from tidings.cli.policy_format import lines_of


def test_what_a_terminal_would_obey_is_not_printed() -> None:
    policy = {
        "id": "policy_1",
        "use_case": "otp",
        "strategy": "SEQUENTIAL",
        "order": "fixed",
        "ladder": [{"channel": "sms", "deadline_seconds": 30}],
        "description": "Co\x1bdes",
        "version": 3,
    }

    assert "  Co?des" in list(lines_of(policy))
