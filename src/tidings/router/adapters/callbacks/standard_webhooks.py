"""Callbacks with the signature of Standard Webhooks: it covers the id, the time and the body.

A request that is older than five minutes is not taken, and one that is sent again within them finds its events taken in
already.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from tidings.contracts.callback_forms import Keys, RawCallback, UnverifiedCallback, VerifiedCallback
from tidings.kernel.signed_webhooks.secrets import secrets_of
from tidings.kernel.signed_webhooks.signature import ID_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER
from tidings.kernel.signed_webhooks.verify import SignatureVerdict, verdict_of
from tidings.router.adapters.callbacks.parsing import require_json

_REFUSALS: Final[Mapping[SignatureVerdict, UnverifiedCallback]] = {
    SignatureVerdict.UNSIGNED: UnverifiedCallback(
        "unsigned", f"send the headers {ID_HEADER}, {TIMESTAMP_HEADER} and {SIGNATURE_HEADER}, each once"
    ),
    SignatureVerdict.BAD_ID: UnverifiedCallback(
        "malformed", f"the header {ID_HEADER} must be 1 to 256 visible characters without a dot"
    ),
    SignatureVerdict.BAD_TIMESTAMP: UnverifiedCallback(
        "malformed", f"the header {TIMESTAMP_HEADER} must be whole seconds since 1970"
    ),
    SignatureVerdict.STALE: UnverifiedCallback(
        "stale",
        f"the header {TIMESTAMP_HEADER} is more than five minutes off; sign when you send, by a clock that is right",
    ),
    SignatureVerdict.MISMATCH: UnverifiedCallback(
        "mismatch",
        "the signature does not fit the body and the account's callback_secret; sign the bytes as they are sent",
    ),
}


class StandardWebhooks:
    """Verifies the requests of a form; the base of those that are signed so."""

    def keys(self, settings: Struct) -> Keys | None:
        """The secret that callbacks are signed with."""
        secret = getattr(settings, "callback_secret", None)
        return {"secret": secret} if secret else None

    async def verify(self, request: RawCallback, keys: Keys) -> VerifiedCallback | UnverifiedCallback:
        """Whether one of the signatures is ours."""
        require_json(request)
        verdict = verdict_of(
            secrets_of(keys["secret"]),
            webhook_id=request.header(ID_HEADER),
            timestamp=request.header(TIMESTAMP_HEADER),
            signature=request.header(SIGNATURE_HEADER),
            body=request.body,
            received_at=request.received_at,
        )
        return VerifiedCallback() if verdict is SignatureVerdict.FITS else _REFUSALS[verdict]
