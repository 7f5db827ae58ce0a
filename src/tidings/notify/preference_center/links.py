"""The links that messages carry, made for whole sets: by reckoning at first, stored with one statement at the end."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tidings.contracts.ids import RecipientId
from tidings.contracts.tenants import Channel
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantsTx, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.pepper import Pepper
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.preference_center import store
from tidings.notify.preference_center.tokens import OptOutScope, OptOutToken, make_token


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageLinks:
    """What one message may point to."""

    #: One click, and the recipient hears no more of this category on this channel.
    unsubscribe: str = field(repr=False)
    #: The page where all of it can be chosen.
    preferences: str = field(repr=False)
    token: OptOutToken = field(repr=False)


class UnsubscribeLinks:
    """Makes links to ourselves."""

    def __init__(self, base_url: str, *, clock: Clock) -> None:
        #: How the outside reaches us, without a slash at the end.
        self.base_url = base_url.rstrip("/")
        self._clock = clock

    def make(
        self,
        tenant_id: TenantId,
        scope: OptOutScope,
        *,
        pepper: Pepper,
        at: datetime,
        address_id: str | None = None,
    ) -> MessageLinks:
        """The links of one message that was made at that time; they lead somewhere once they are stored."""
        token = make_token(tenant_id, scope, pepper=pepper, at=at, address_id=address_id)
        shown = self._shown(token)
        return MessageLinks(
            unsubscribe=f"{self.base_url}/u/{shown}", preferences=f"{self.base_url}/p/{shown}", token=token
        )

    def _shown(self, token: OptOutToken) -> str:
        return token.text

    def of_message(
        self,
        tenant_id: TenantId,
        *,
        policy: CategoryPolicy | None,
        recipient_id: RecipientId,
        channel: Channel,
        pepper: Pepper,
        at: datetime,
        address_id: str | None,
        address_hash: str | None = None,
    ) -> MessageLinks | None:
        """The links of a message of this category to this address; None where the category can't be unsubscribed from.

        Without the hash they can be shown and not stored: they lead where the stored ones do.
        """
        if policy is None or not policy.can_unsubscribe:
            return None
        scope = OptOutScope(
            recipient_id=recipient_id, channel=channel, category=policy.category, address_hash=address_hash
        )
        return self.make(tenant_id, scope, pepper=pepper, at=at, address_id=address_id)

    def confirmation(self, token: OptOutToken) -> str:
        """Where the recipient confirms their consent."""
        return f"{self.base_url}/c/{token.text}"

    async def store(self, tx: TenantTx | TenantsTx, links: Sequence[MessageLinks]) -> None:
        """Have a set of links work from now on: one statement, and none where the set is empty."""
        tokens = {(link.token.tenant_id, link.token.token_hash): link.token for link in links}
        if tokens:
            await store.insert_tokens(tx, list(tokens.values()), now=self._clock.now())


class ExampleLinks(UnsubscribeLinks):
    """For simulations: links that look like links and lead nowhere."""

    def _shown(self, token: OptOutToken) -> str:  # noqa: ARG002
        return "example"

    async def store(self, tx: TenantTx | TenantsTx, links: Sequence[MessageLinks]) -> None:
        """Nothing is stored."""
