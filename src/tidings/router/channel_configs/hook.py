"""Where an account's vendor calls us later: the address that is pasted into the vendor's console."""

import ipaddress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from tidings.router.accounts.model import StoredAccount

_SETTING: Final = "TIDINGS_PUBLIC_URL"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookAddress:
    """One account's."""

    #: None where no public address is set.
    url: str | None
    #: What is to be done before a vendor can call; None where nothing stands in the way that is seen from here.
    advice: str | None = None


def hook_of(account: StoredAccount, public_url: str | None) -> HookAddress:
    """The account's hook below the address that the outside reaches us by."""
    path = f"/hooks/{account.vendor}/{account.id}"
    if public_url is None:
        return HookAddress(
            url=None, advice=f"set {_SETTING} to the address that vendors reach you by; it is {path} there"
        )
    parts = urlsplit(public_url)
    host = parts.hostname or ""
    # Every tenant sees it: nothing else of the setting.
    base = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
    near = f"only this network reaches {host}: set {_SETTING} to the address that vendors reach you by"
    return HookAddress(url=base + path, advice=near if _is_near(host) else None)


def _is_near(host: str) -> bool:
    """Whether this host is not known outside."""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
