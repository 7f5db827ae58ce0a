"""Changes a profile by hand: tells a fact, or forgets all that was learned; each with its line in the audit."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tidings.contracts.ids import RecipientId
from tidings.contracts.profiles import KnownRecipients
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.router.profiles import store
from tidings.router.profiles.errors import UnknownProfileError
from tidings.router.profiles.facts import FactName, TriState, Value
from tidings.router.profiles.model import Profile
from tidings.router.profiles.observe import told

_ENTITY = "profile"
#: Compares the version that a change is made from with what its caller saw; 0 where nothing was kept.
Expect = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ProfileChanger:
    """Changes profiles."""

    recipients: KnownRecipients
    audit: AuditLog
    clock: Clock

    async def tell(
        self,
        tx: TenantTx,
        recipient_id: RecipientId,
        values: Mapping[FactName, Value],
        *,
        at: datetime | None,
        expect: Expect,
        actor: str,
    ) -> Profile:
        """Take in what a caller says; of each fact the later word counts, so an old one may change nothing."""
        await expect_known(self.recipients, tx, recipient_id)
        now = self.clock.now()
        known = await store.lock_profile(tx, recipient_id)
        if known is not None and told(known, values, at=at or now).facts == known.facts:
            # All of it is known from later: nothing changes, its version neither.
            expect(known.version)
            return known
        before = (await store.open_profiles(tx, [recipient_id], now=now)).get(recipient_id)
        if before is None:
            # Erased since we asked.
            raise UnknownProfileError
        # Opening it has counted this change already.
        expect(before.version - 1)
        after = told(before, values, at=at or now)
        await store.write_profiles(tx, [after])
        entry = Entry(
            entity_type=_ENTITY,
            entity_id=recipient_id,
            action="told",
            actor=actor,
            before=_shown(before, values),
            after=_shown(after, values),
        )
        await self.audit.append(tx, [entry])
        return after

    async def forget(self, tx: TenantTx, recipient_id: RecipientId, *, expect: Expect, actor: str) -> bool:
        """Remove all that was learned about a recipient who stays known; whether there was anything."""
        await expect_known(self.recipients, tx, recipient_id)
        before = await store.lock_profile(tx, recipient_id)
        expect(before.version if before is not None else 0)
        if before is None:
            return False
        await store.delete_profile(tx, recipient_id)
        entry = Entry(
            entity_type=_ENTITY,
            entity_id=recipient_id,
            action="forgotten",
            actor=actor,
            before={"discovery_state": before.discovery.value, "observations": before.observations},
        )
        await self.audit.append(tx, [entry])
        return True


async def expect_known(recipients: KnownRecipients, tx: TenantTx, recipient_id: RecipientId) -> None:
    """An `UnknownProfileError` where no recipient has this id, or they were erased."""
    if recipient_id not in await recipients.known(tx, [recipient_id]):
        raise UnknownProfileError(f"there is no recipient with the id {recipient_id}, or they were erased")


def _shown(profile: Profile, names: Mapping[FactName, Value]) -> dict[str, Any]:
    # As values and not as names of fields: the audit masks whatever is called e-mail or otp.
    return {"facts": [{"fact": name, "known": _known(profile, name)} for name in sorted(names)]}


def _known(profile: Profile, name: FactName) -> str | bool:
    fact = profile.facts.get(name)
    match None if fact is None else fact.value:
        case TriState() as state:
            return state.value
        case bool() as flag:
            return flag
        case None:
            return TriState.UNKNOWN.value
        case _:
            return "set"
