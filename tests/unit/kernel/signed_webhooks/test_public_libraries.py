"""The public libraries verify what we sign, in every form of a secret that they take: Python's, and two of JavaScript."""

import base64
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import pytest
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError

from tests.support.npm_webhooks.running import LIBRARIES, SignedCall, needs_npm_webhooks, verified
from tidings.kernel.signed_webhooks.signature import signed_by_each
from tidings.notify.webhooks.sealing import new_secret

BYTES: Final = bytes(range(32))
ENCODED: Final = base64.b64encode(BYTES).decode()
#: 24 bytes need no padding, 32 have one sign of it, 31 two.
SECRETS: Final = (
    new_secret(),
    f"whsec_{ENCODED}",
    f"whsec_{base64.b64encode(BYTES[:24]).decode()}",
    f"whsec_{base64.b64encode(BYTES[:31]).decode()}",
    ENCODED,
    base64.b64encode(BYTES[:24]).decode(),
)
BODY: Final = '{"type":"notification.delivered.v1","timestamp":"2026-11-15T12:00:00Z","data":{"name":"لیلا \U0001f319"}}'


def signed(secrets: Sequence[str]) -> dict[str, str]:
    """The headers of a call."""
    now = int(datetime.now(UTC).timestamp())
    return signed_by_each(
        secrets, webhook_id="evt_01M7FHHCF0AHCRX0GVMG9Q799D", timestamp=now, body=BODY.encode()
    )


@pytest.mark.parametrize("secret", SECRETS, ids=range(len(SECRETS)))
def test_the_library_of_python_verifies_every_form(secret: str) -> None:
    Webhook(secret).verify(BODY, signed([secret]))
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(BODY + " ", signed([secret]))


@needs_npm_webhooks
def test_the_libraries_of_javascript_verify_every_form() -> None:
    """A changed body and another's secret are refused, or the answer would mean nothing."""
    good = [
        SignedCall(library=library, secret=secret, headers=signed([secret]), body=BODY)
        for library in LIBRARIES
        for secret in SECRETS
    ]
    changed = [
        SignedCall(library=library, secret=SECRETS[0], headers=signed([SECRETS[0]]), body=BODY + " ")
        for library in LIBRARIES
    ]
    strange = [
        SignedCall(library=library, secret=SECRETS[1], headers=signed([SECRETS[0]]), body=BODY)
        for library in LIBRARIES
    ]

    assert verified(good) == [True] * len(good)
    assert verified([*changed, *strange]) == ["No matching signature found"] * 4


@needs_npm_webhooks
def test_while_a_secret_is_rotated_the_libraries_take_either() -> None:
    old, new = SECRETS[0], SECRETS[1]
    calls = [
        SignedCall(library=library, secret=secret, headers=signed([new, old]), body=BODY)
        for library in LIBRARIES
        for secret in (old, new)
    ]
    Webhook(old).verify(BODY, signed([new, old]))
    Webhook(new).verify(BODY, signed([new, old]))

    assert verified(calls) == [True] * 4
