"""The router's `PriceList`: what texts cost with a tenant's accounts."""

from tidings.contracts.prices import MessageCost
from tidings.kernel.ids import TenantId
from tidings.router.accounts.accounts import Accounts
from tidings.router.prices.price import price_of_text


class AccountPrices:
    """Prices by the account that a tenant sends through."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    async def of_text(self, tenant_id: TenantId, vendor: str, channel: str, text: str) -> MessageCost | None:
        """By the account's general price: the number may change it."""
        account = (await self._accounts.of(tenant_id)).get(vendor)
        if account is None or account.prices is None:
            return None
        micros = price_of_text(account.prices, channel, to="", text=text)
        return MessageCost(micros=micros, currency=account.prices.currency)
