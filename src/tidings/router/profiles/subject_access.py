"""Tells a person what was learned about reaching them: all of it, in the clear."""

from dataclasses import dataclass

from tidings.contracts.ids import RecipientId
from tidings.contracts.profiles import LearnedChannel, LearnedProfile, ProfileAudit
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.ids import AuditId
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.mapping import by_name
from tidings.router.profiles import store
from tidings.router.profiles.facts import FactName, SealedId, sealing_purpose


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class StoredProfiles:
    """The contract's `ProfileTeller`."""

    keyring: Keyring
    #: Of the schema `chan`.
    audit: AuditLog
    clock: Clock

    async def tell(self, tx: TenantTx, recipient_id: str) -> LearnedProfile | None:
        """All of it; None where nothing is kept."""
        wanted = RecipientId(recipient_id)
        profile = (await store.load(tx, [wanted])).get(wanted)
        if profile is None:
            return None
        key: DataKey | None = None
        if profile.telegram_chat_id is not None or profile.viber_id is not None:
            key = (await self.keyring.data_keys(tx, [wanted], create=False)).get(wanted)
        now = self.clock.now()
        return by_name(
            LearnedProfile,
            profile,
            channels=[
                LearnedChannel(
                    channel=score.channel,
                    score=round((as_of := score.posterior.decayed(now)).mean, 4),
                    confidence=round(as_of.confidence, 4),
                    observations=score.observations,
                    last_observed_at=score.posterior.at,
                )
                for _, score in sorted(profile.channels.items())
            ],
            has_whatsapp_business=profile.has_whatsapp_business.value,
            voice_otp_supported=profile.voice_otp_supported.value,
            telegram_chat_id=_opened(profile.telegram_chat_id, key, "telegram_chat_id"),
            viber_id=_opened(profile.viber_id, key, "viber_id"),
            learned_at={name: fact.at for name, fact in sorted(profile.facts.items())},
        )

    async def audited(
        self, tx: TenantTx, recipient_id: str, *, before: str | None, limit: int
    ) -> list[ProfileAudit]:
        """What was done by hand, the newest first."""
        rows = await self.audit.read_recent(
            tx,
            entity_type="profile",
            entity_id=recipient_id,
            before=None if before is None else AuditId(before),
            limit=limit,
        )
        return [
            ProfileAudit(id=row.id, at=row.occurred_at, action=row.action, actor=row.actor) for row in rows
        ]


def _opened(sealed: SealedId | None, key: DataKey | None, name: FactName) -> str | None:
    if sealed is None or key is None:
        return None
    try:
        return key.unseal(sealed.ciphertext, sealing_purpose(name)).decode()
    except (DestroyedKeyError, UnreadableError):
        return None
