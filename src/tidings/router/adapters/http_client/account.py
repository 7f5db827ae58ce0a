"""Accounts with vendors that are asked over HTTP: what all have, and one that its settings describe."""

from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from tidings.kernel.errors import BadValueError
from tidings.router.adapters.ca_bundle import CaPem
from tidings.router.adapters.egress import Guard
from tidings.router.adapters.host_port import host_and_port
from tidings.router.adapters.http_client.answers import Verdict
from tidings.router.adapters.http_client.sender import HttpSender
from tidings.router.adapters.http_client.untrusted_host_limits import UntrustedHostLimits
from tidings.router.adapters.secret_rotation import SigningSecrets
from tidings.router.adapters.setting_types import Line

_HeaderName = Annotated[
    str, Meta(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,60}\Z", description="must be a header's name")
]
_Path = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\Z",
        max_length=200,
        description="must be a path such as messages.0.id",
    ),
]
_Status = Annotated[
    str, Meta(pattern=r"^[1-5]([0-9]{2}|xx)\Z", description="must be a status such as 429 or 5xx")
]


#: The address of a vendor's API.
ApiUrl = Annotated[
    str,
    Meta(
        max_length=2048,
        pattern=r"^https?://[^\s\x00-\x1f\x7f-\x9f/?#@]+(/[^\s\x00-\x1f\x7f-\x9f?#]*)?\Z",
        description="must be an address such as https://api.vendor.example",
    ),
]

#: Settings that are such addresses.
_ADDRESSES: Final = ("api_url", "token_uri", "status_callback", "webhook_url")


class HttpAccount(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every account has that is asked over HTTP."""

    #: Trust the certificates of this file, on the disk of every process that sends, and no others.
    ca_file: Line | None = None
    #: The same as text; by reference as `ca_pem_ref`, so that it lies with the account's other secrets.
    ca_pem: CaPem | None = None
    #: Most requests at once.
    connections: Annotated[int, Meta(ge=1, le=500)] = 16
    connect_seconds: Annotated[float, Meta(gt=0, le=300)] = 10.0
    #: For one request, from the first byte to the last.
    timeout_seconds: Annotated[float, Meta(gt=0, le=600)] = 30.0
    #: What has not begun after this is given back.
    batch_seconds: Annotated[float, Meta(gt=0, le=3600)] = 60.0


def sender_of(account: HttpAccount, guard: Guard, strangers: UntrustedHostLimits | None = None) -> HttpSender:
    """Its pool of connections; with `strangers` for hosts that the account has not chosen."""
    for name in _ADDRESSES:
        url = getattr(account, name, None)
        if isinstance(url, str) and host_and_port(url) is None:
            raise BadValueError(name, "must be an address such as https://api.vendor.example")
    return HttpSender(
        guard=guard,
        connections=account.connections,
        connect_seconds=account.connect_seconds,
        timeout_seconds=account.timeout_seconds,
        batch_seconds=account.batch_seconds,
        ca_file=account.ca_file,
        ca_pem=account.ca_pem,
        strangers=strangers,
    )


class HttpSettings(HttpAccount, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One account with a vendor that takes JSON."""

    url: Line
    method: Literal["POST", "PUT", "PATCH"] = "POST"
    headers: Annotated[dict[_HeaderName, Line], Meta(max_length=50)] = {}
    #: Any JSON with placeholders.
    body: dict[str, Any] | list[Any] | None = None
    #: For `{{secret.…}}`; by reference as `{"token_ref": "file://…"}`.
    secrets: Annotated[dict[str, Line], Meta(max_length=20)] = {}
    #: Status → what it means, over the usual meanings.
    statuses: dict[_Status, Verdict] = {}
    #: Where a success says how the vendor calls the message; then an answer without it is none.
    message_id_path: _Path | None = None
    #: Where a refusal says its code and its reason.
    error_code_path: _Path | None = None
    error_reason_path: _Path | None = None
    #: Answers a GET with 2xx to those whose credentials are good: for a check that sends nothing.
    check_url: Line | None = None
    #: Carries our message id, the same when a message is repeated.
    idempotency_header: _HeaderName = "Idempotency-Key"
    #: The vendor really drops repeats with the same key.
    idempotent: bool = False
    #: The vendor tells us later what became of a message, at `/hooks/…`.
    receipts: bool = False
    #: What those receipts are signed with; several while one takes the place of another, one on each line.
    callback_secret: SigningSecrets | None = None
    #: A DELETE there calls a message back; `{{provider_message_id}}` says which.
    cancel_url: Line | None = None

    def __repr__(self) -> str:
        return f"HttpSettings(host={urlsplit(self.url).hostname!r})"


def refuse_deaf_receipts(settings: HttpSettings) -> None:
    """Whoever waits for receipts that can't be told apart, or belong to nothing, waits in vain."""
    if not settings.receipts:
        return
    if settings.callback_secret is None:
        raise BadValueError("callback_secret", "is needed with receipts: it is what they are signed with")
    if settings.message_id_path is None:
        raise BadValueError(
            "message_id_path", "is needed with receipts: they name a message by the vendor's id"
        )
