"""The signature of Standard Webhooks: it covers the id, the time and the body.

A request that is older than five minutes is not taken, and one that is sent again within them finds its events taken in
already.
"""

import hmac
import re
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Final

from msgspec import Struct

from tidings.contracts.callback_forms import Keys, RawCallback, UnverifiedCallback, VerifiedCallback
from tidings.kernel.signed_webhooks.secrets import secrets_of
from tidings.kernel.signed_webhooks.signature import ID_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER, sign
from tidings.router.adapters.callbacks.parsing import require_json

#: How far the sender's clock may be from ours.
WINDOW: Final = timedelta(minutes=5)
_MOST_SIGNATURES: Final = 10
# A dot in the id would let one signature stand for two requests.
_ID = re.compile(r"[!-\-/-~]{1,256}")
_TIMESTAMP = re.compile(r"[0-9]{1,11}")


class StandardWebhooks:
    """Verifies the requests of a form; the base of those that are signed so."""

    def keys(self, settings: Struct) -> Keys | None:
        """The secret that callbacks are signed with."""
        secret = getattr(settings, "callback_secret", None)
        return {"secret": secret} if secret else None

    async def verify(self, request: RawCallback, keys: Keys) -> VerifiedCallback | UnverifiedCallback:
        """Whether one of the signatures is ours."""
        require_json(request)
        webhook_id = request.header(ID_HEADER)
        timestamp = request.header(TIMESTAMP_HEADER)
        given = request.header(SIGNATURE_HEADER)
        if webhook_id is None or timestamp is None or given is None:
            names = f"{ID_HEADER}, {TIMESTAMP_HEADER} and {SIGNATURE_HEADER}"
            return UnverifiedCallback("unsigned", f"send the headers {names}, each once")
        if not _ID.fullmatch(webhook_id):
            return UnverifiedCallback(
                "malformed", f"the header {ID_HEADER} must be 1 to 256 visible characters without a dot"
            )
        if not _TIMESTAMP.fullmatch(timestamp):
            return UnverifiedCallback(
                "malformed", f"the header {TIMESTAMP_HEADER} must be whole seconds since 1970"
            )
        signed_at = datetime.fromtimestamp(int(timestamp), UTC)
        if abs(signed_at - request.received_at) > WINDOW:
            return UnverifiedCallback(
                "stale",
                f"the header {TIMESTAMP_HEADER} is more than five minutes off; sign when you send, by a clock that is right",
            )
        offered = [word for word in given.split()[:_MOST_SIGNATURES] if word.startswith("v1,")]
        fits = False
        for one in secrets_of(keys["secret"]):
            signatures = sign(one, webhook_id=webhook_id, timestamp=timestamp, body=request.body).split()
            for wanted, word in product(signatures, offered):
                fits |= hmac.compare_digest(wanted.encode(), word.encode("latin-1", "replace"))
        if fits:
            return VerifiedCallback()
        return UnverifiedCallback(
            "mismatch",
            "the signature does not fit the body and the account's callback_secret; sign the bytes as they are sent",
        )
