"""The router's `VendorProbe`: questions to vendors outside the ordinary way of messages."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Literal

from tidings.contracts.channel_configs import CredentialCheck, TestSend
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, Refused
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import FieldError
from tidings.kernel.secrets import SecretStoreError
from tidings.router.accounts.model import StoredAccount
from tidings.router.vendors.open_adapters import SECRET_STORE, OpenAdapters, UnusableError
from tidings.router.vendors.vendors import Vendors

#: The owner of a platform's account, where a tenant is wanted.
_NOBODY = TenantId("")


class AdapterProbe:
    """Looks whether accounts can be read, checks credentials, tries accounts out."""

    def __init__(
        self, vendors: Vendors, adapters: OpenAdapters, *, patience: timedelta = timedelta(seconds=20)
    ) -> None:
        """`patience`: how long a vendor has to say whether it takes credentials."""
        self._vendors = vendors
        self._adapters = adapters
        self._patience = patience.total_seconds()

    async def wrong_with(
        self, tenant_id: TenantId | None, vendor: str, secret_ref: str
    ) -> Sequence[FieldError]:
        """What the adapter can't read of what the reference leads to, as an account of the tenant's own, or the platform's
        where that is None; no vendor is asked."""
        account = _unsaved(vendor, secret_ref, platform=tenant_id is None)
        try:
            async with asyncio.timeout(self._patience), self._adapters.apart(account, tenant_id or _NOBODY):
                return ()
        except UnusableError as error:
            if error.code == SECRET_STORE:
                raise SecretStoreError(str(error)) from None
            return error.wrong
        except TimeoutError:
            raise SecretStoreError(
                "the store that keeps the account's secret did not answer in time"
            ) from None

    async def check(self, tenant_id: TenantId, vendor: str, secret_ref: str) -> CredentialCheck:
        """Whether the vendor takes what the reference leads to, as an account of the tenant's own."""
        account = _unsaved(vendor, secret_ref)
        try:
            async with asyncio.timeout(self._patience), self._adapters.apart(account, tenant_id) as adapter:
                return _told(await adapter.check())
        except UnusableError as error:
            return CredentialCheck(result="unusable", code=error.code, reason=str(error))
        except TimeoutError:
            return CredentialCheck(
                result="not_reached", code="late", reason="the vendor did not answer in time"
            )

    async def try_out(
        self, tenant_id: TenantId, vendor: str, message: OutboundMessage, *, is_test: bool
    ) -> TestSend:
        """Send one message through the account that the tenant sends through."""
        sent = await self._vendors.send(
            tenant_id, self._vendors.of(vendor, message, is_test=is_test), [message]
        )
        return TestSend(vendor=sent.vendor, outcome=sent.outcomes[0])


def _unsaved(vendor: str, secret_ref: str, *, platform: bool = False) -> StoredAccount:
    return StoredAccount(
        id="unsaved",
        platform=platform,
        vendor=vendor,
        handle=None,
        secret_ref=secret_ref,
        per_second=None,
        per_day=None,
    )


def _told(outcome: Outcome | None) -> CredentialCheck:
    if outcome is None:
        return CredentialCheck(result="not_asked")
    if isinstance(outcome, Accepted):
        return CredentialCheck(result="accepted")
    result: Literal["refused", "not_reached"] = "refused" if isinstance(outcome, Refused) else "not_reached"
    return CredentialCheck(result=result, code=getattr(outcome, "code", None), reason=outcome.reason)
