"""Accounts with vendors that are asked over HTTP: what all have."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from tidings.kernel.ca_bundle import CaPem
from tidings.kernel.egress import Guard, host_and_port
from tidings.kernel.errors import BadValueError
from tidings.router.adapters.http_client.sender import HttpSender, UntrustedHostLimits
from tidings.router.adapters.setting_types import Line

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


def sender_of(account: HttpAccount, guard: Guard, untrusted: UntrustedHostLimits | None = None) -> HttpSender:
    """Its pool of connections; with `untrusted` for hosts that the account has not chosen."""
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
        untrusted=untrusted,
    )
