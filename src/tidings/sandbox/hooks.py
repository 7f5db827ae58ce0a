"""Where a vendor's receipts go, and what they are signed with."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from tidings.kernel.errors import BadValueError
from tidings.kernel.refusals import NotFoundError
from tidings.kernel.signed_webhooks.signature import signed_headers

_MOST = 1000


class SandboxHook(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who is told what became of a vendor's messages."""

    url: Annotated[
        str,
        Meta(
            max_length=2048,
            pattern=r"^https?://[^\s\x00-\x1f\x7f-\x9f/@]+(/[^\s\x00-\x1f\x7f-\x9f]*)?\Z",
            description="must be an http or https URL",
        ),
    ]
    #: `whsec_` and base64, or any other text.
    secret: Annotated[str, Meta(min_length=1, max_length=2048)]

    def signing_secret(self, *, forged: bool) -> str:
        """What a call is signed with; another where it is forged."""
        return "somebody else's" if forged else self.secret

    def __repr__(self) -> str:
        return "SandboxHook(…)"


class SandboxHooks:
    """The hook of each vendor, by the vendor's name."""

    def __init__(self) -> None:
        self._known: dict[str, SandboxHook] = {}

    def set(self, vendor: str, hook: SandboxHook) -> None:
        """Receipts of this vendor go there from now on, also those that are planned already."""
        if vendor not in self._known and len(self._known) >= _MOST:
            raise BadValueError("vendor", f"there are {_MOST} hooks already")
        self._known[vendor] = hook

    def end(self, vendor: str) -> None:
        """They go nowhere."""
        if self._known.pop(vendor, None) is None:
            raise NotFoundError("there is no hook for that vendor")

    def of(self, vendor: str) -> SandboxHook | None:
        """Where they go."""
        return self._known.get(vendor)

    def urls(self) -> dict[str, str]:
        """All, without their secrets."""
        return {vendor: hook.url for vendor, hook in self._known.items()}


def signed(
    hook: SandboxHook, *, webhook_id: str, body: bytes, now: datetime, forged: bool = False
) -> Mapping[str, str]:
    """The headers that prove who sent the body."""
    secret = hook.signing_secret(forged=forged)
    proof = signed_headers(secret, webhook_id=webhook_id, timestamp=int(now.timestamp()), body=body)
    return {"Content-Type": "application/json", **proof}
