"""The kernel is plumbing: nothing in it is named after what Tidings sends, to whom, or through whom."""

import io
import re
import tokenize
from pathlib import Path

import pytest

import tidings.kernel

_KERNEL = Path(tidings.kernel.__file__).parent
_WORDS = frozenset(
    [
        "adapter",
        "adapters",
        "callbacks",
        "campaign",
        "campaigns",
        "conversation",
        "conversations",
        "email",
        "ladder",
        "mail",
        "notification",
        "notifications",
        "notify",
        "preference",
        "preferences",
        "profile",
        "profiles",
        "recipient",
        "recipients",
        "sender",
        "senders",
        "sms",
        "smtp",
        "subscriber",
        "suppression",
        "suppressions",
        "template",
        "templates",
        "vendor",
        "vendors",
        "voice",
        "whatsapp",
    ]
)
#: Names of others: templates of paths and the module `email` for HTTP, MX records of DNS.
_OTHERWISE = frozenset(
    {"Template", "email", "mail_servers", "path_template", "preference", "ref_template", "template"}
)


def _words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}


def _names(source: str) -> set[str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {token.string for token in tokens if token.type == tokenize.NAME} - _OTHERWISE


@pytest.mark.parametrize(
    "file", sorted(_KERNEL.rglob("*.py")), ids=lambda file: str(file.relative_to(_KERNEL))
)
def test_no_name_is_of_notifications(file: Path) -> None:
    """Neither a file's nor anything in it."""
    names = {*file.relative_to(_KERNEL).with_suffix("").parts, *_names(file.read_text())}

    assert {name for name in names if _words(name) & _WORDS} == set()
