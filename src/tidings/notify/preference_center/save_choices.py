"""Saves what a recipient chose on a page: their own choices, and what holds for the address that the link was sent to."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

from tidings.contracts.profiles import MailboxNews
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.notify.preference_center import store
from tidings.notify.preference_center.address_choices import AddressChoices
from tidings.notify.preference_center.choices import CONFIRMATION_PAGE, with_category
from tidings.notify.preference_center.tokens import OptOutScope, make_way_on
from tidings.notify.preference_center.visits import LinkVisit, NoVisitError
from tidings.notify.recipients.addresses import prove_mailbox
from tidings.notify.recipients.change_preferences import PreferenceChanger
from tidings.notify.recipients.errors import ErasedRecipientError, UnknownRecipientError
from tidings.notify.recipients.preferences_model import Choices, Preferences
from tidings.notify.refusals.refuse import Refuser


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ChoiceSaver:
    """Saves choices of visitors."""

    db: Database
    _: KW_ONLY
    changer: PreferenceChanger
    refuser: Refuser
    mailboxes: MailboxNews
    clock: Clock

    async def save(
        self,
        visit: LinkVisit,
        make: Callable[[Preferences], Choices],
        say: Callable[[Choices, Choices], AddressChoices],
        *,
        source: str,
    ) -> Preferences:
        """Their preferences after the choices that `make` gives; `say` is what those mean for the address.

        Both in one transaction; a `NoVisitError` where the recipient is gone.
        """
        recipient_id = visit.token.scope.recipient_id
        actor = f"recipient:{recipient_id}"
        seen: list[Preferences] = []

        def noting(before: Preferences) -> Choices:
            seen.append(before)
            return make(before)

        try:
            async with self.db.tenant(visit.tenant_id) as tx:
                now = self.clock.now()
                await store.mark_used(tx, visit.token.id, now=now)
                after = await self.changer.change(
                    tx,
                    recipient_id,
                    noting,
                    categories=with_category(visit.facts.categories, visit.token.scope.category),
                    actor=actor,
                    source=source,
                    evidence=visit.evidence,
                    proven=True,
                )
                [before] = seen
                words = say(before.choices, after.choices)
                await self.refuser.allow(tx, visit.proven, words.allow, source=source, actor=actor)
                await self.refuser.refuse(
                    tx,
                    recipient_id,
                    visit.places,
                    words.refuse,
                    source=source,
                    evidence=visit.evidence,
                    preferences_version=after.version,
                    announced=after.version != before.version,
                )
                # A recipient who confirms by a link that went to a mailbox reads that mailbox.
                by_mail = source == CONFIRMATION_PAGE and visit.token.scope.channel == "email"
                if by_mail and await prove_mailbox(tx, recipient_id, now=now):
                    await self.mailboxes.told(tx, {recipient_id: True}, at=now)
                return after
        except (ErasedRecipientError, UnknownRecipientError):
            raise NoVisitError("expired", visit.words) from None

    async def way_to_choices(self, visit: LinkVisit) -> str:
        """The token of a page of choices for a recipient who came to confirm."""
        scope = OptOutScope(
            recipient_id=visit.token.scope.recipient_id,
            channel=visit.token.scope.channel,
            category=None,
            address_hash=visit.token.scope.address_hash,
        )
        way_on = make_way_on(visit.tenant_id, scope, text=visit.text, expires_at=visit.token.expires_at)
        async with self.db.tenant(visit.tenant_id) as tx:
            await store.insert_tokens(tx, [way_on], now=self.clock.now())
        return way_on.text
