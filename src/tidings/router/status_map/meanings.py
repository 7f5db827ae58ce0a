"""What vendors' codes mean for a tenant, remembered until a change is announced; and answers read by it.

How the reason of a line travels: as `meaning` of the answer, from where it stands with the attempt; before the vendor's own
words in `reason`, as in `invalid_address: no such number`; and as `effect`, where it means something for the address.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, Literal

from tidings.contracts.adapters import OUR_CODES
from tidings.contracts.callback_forms import Canonical
from tidings.contracts.messages import Accepted, DeviceRefused, Outcome, Refused, TryLater
from tidings.kernel.announced_changes import AnnouncedChanges, announced_cache
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.errors import DatabaseError
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger
from tidings.kernel.ttl_cache import TtlCache
from tidings.router.status_map import store
from tidings.router.status_map.model import StatusMeaning
from tidings.router.status_map.store import Key

__all__ = ["Meanings", "StatusMeaning", "TenantMeanings", "code_of", "codes_of", "read_by", "translate"]

_log = get_logger("status_map")
#: Tenants with remembered lines, at most.
_MOST = 10_000

_NO: Final[Mapping[Canonical, Literal["failed_perm", "rejected_by_provider", "rejected_by_recipient"]]] = {
    "failed_perm": "failed_perm",
    "bounced": "failed_perm",
    "rejected_by_provider": "rejected_by_provider",
    "cancelled": "rejected_by_provider",
    "rejected_by_recipient": "rejected_by_recipient",
    "complaint": "rejected_by_recipient",
}
_LATER: Final[frozenset[Canonical]] = frozenset({"failed_temp", "timed_out"})


@dataclass(frozen=True, slots=True)
class TenantMeanings:
    """What codes mean for one tenant."""

    own: Mapping[Key, StatusMeaning]
    everybodys: Mapping[Key, StatusMeaning]

    def of(self, vendor: str, code: str) -> StatusMeaning | None:
        """A vendor's own name before that of its kind; of each the tenant's own line before the platform's."""
        for name in _names(vendor):
            found = self.own.get((name, code)) or self.everybodys.get((name, code))
            if found is not None:
                return found
        return None


_NOTHING: Final = TenantMeanings({}, {})


class Meanings:
    """Remembers the lines of tenants, and those of the platform once."""

    def __init__(
        self,
        db: Database,
        *,
        clock: Clock,
        look_again: timedelta = timedelta(seconds=1),
        changes: AnnouncedChanges | None = None,
    ) -> None:
        """A change is seen when it is announced, or after `look_again`."""
        self._db = db
        self._own: TtlCache[TenantId, Mapping[Key, StatusMeaning]] = announced_cache(
            changes, "chan.adapter_status_map", clock=clock, size=_MOST, ttl=look_again
        )
        self._everybodys: TtlCache[None, Mapping[Key, StatusMeaning]] = announced_cache(
            changes, "chan.adapter_status_map", clock=clock, size=1, ttl=look_again
        )

    async def of(self, tenant_id: TenantId, vendor: str, code: str) -> StatusMeaning | None:
        """What the code means; None where no line says so."""
        return (await self.known(tenant_id)).of(vendor, code)

    async def known(self, tenant_id: TenantId) -> TenantMeanings:
        """All of it, for sets. While the database is away nothing is known: answers stay as vendors gave them."""
        own, everybodys = self._own.get(tenant_id), self._everybodys.get(None)
        if own is not None and everybodys is not None:
            return TenantMeanings(own, everybodys)
        generations = self._own.generation, self._everybodys.generation
        try:
            async with self._db.tenant(tenant_id) as tx:
                own = await store.load_own(tx)
                everybodys = self._everybodys.get(None)
                if everybodys is None:
                    everybodys = await store.load_everybodys(tx)
                    self._everybodys.put(None, everybodys, generation=generations[1])
        except DatabaseError as error:
            _log.warning("meanings_not_loaded", tenant_id=tenant_id, error=type(error).__name__)
            return _NOTHING
        self._own.put(tenant_id, own, generation=generations[0])
        return TenantMeanings(own, everybodys)


def code_of(outcome: Outcome) -> str | None:
    """The vendor's code in an answer that a line can say more about; ours are never looked up."""
    if isinstance(outcome, Refused | TryLater) and outcome.code not in OUR_CODES:
        return outcome.code
    return None


def codes_of(outcome: Outcome) -> list[str]:
    """All of them: also what was said of single devices."""
    others = outcome.others if isinstance(outcome, Accepted | Refused) else ()
    found = (code_of(one) for one in (outcome, *(other.refused for other in others)))
    return [code for code in found if code is not None]


def read_by(known: TenantMeanings, vendor: str, outcome: Outcome) -> Outcome:
    """The answer as a tenant's lines read it, and what was said of single devices too."""

    def read(one: Outcome) -> Outcome:
        code = code_of(one)
        return one if code is None else translate(one, known.of(vendor, code))

    meant = read(outcome)
    if not isinstance(outcome, Accepted | Refused) or not outcome.others:
        return meant
    # One that the lines have try again later has not been refused.
    said = [(other.place, read(other.refused)) for other in outcome.others]
    others = [DeviceRefused(place=place, refused=one) for place, one in said if isinstance(one, Refused)]
    if isinstance(meant, Accepted):
        return replace(meant, others=tuple(others))
    if not isinstance(meant, Refused):
        return meant
    later = next((one for _, one in said if isinstance(one, TryLater)), None)
    return _spoken_for(meant, others) if later is None else later


def _spoken_for(first: Refused, others: Sequence[DeviceRefused]) -> Refused:
    """What all of them together are told as. A device that is gone says nothing of one that is not: another vendor may know that."""
    lead = next((one for one in others if not _is_the_persons(one.refused)), None)
    if lead is None or not _is_the_persons(first):
        return replace(first, others=tuple(others))
    rest = (DeviceRefused(place=0, refused=first), *(one for one in others if one is not lead))
    return replace(lead.refused, others=rest)


def _is_the_persons(refused: Refused) -> bool:
    return refused.effect is not None or refused.status == "rejected_by_recipient"


def translate(outcome: Outcome, meaning: StatusMeaning | None) -> Outcome:
    """The answer as the line reads it, with the vendor's own code.

    A "no" stays one: a line that says `delivered` is about receipts, and no refusal becomes a success by it. A "not now"
    stays one where the line only says that it is the vendor's own trouble: credentials, credit, an account that is not ready.
    """
    if meaning is None or not isinstance(outcome, Refused | TryLater) or code_of(outcome) is None:
        return outcome
    reason = _said(meaning, outcome.reason)
    status = _NO.get(meaning.canonical)
    if status is not None and not (isinstance(outcome, TryLater) and status == "rejected_by_provider"):
        return Refused(
            reason=reason,
            code=outcome.code,
            permanent=True,
            status=status,
            effect=meaning.effect,
            meaning=meaning.reason,
            answer=outcome.answer,
        )
    if meaning.canonical in _LATER:
        after = outcome.after if isinstance(outcome, TryLater) else None
        return TryLater(
            reason=reason, code=outcome.code, after=after, meaning=meaning.reason, answer=outcome.answer
        )
    return replace(outcome, reason=reason, meaning=meaning.reason)


def _said(meaning: StatusMeaning, words: str) -> str:
    return words if words.startswith(f"{meaning.reason}:") else f"{meaning.reason}: {words}"


def _names(vendor: str) -> list[str]:
    """`http_acme_eu`, `http_acme`, `http`: whatever a line can be written for, the longest first."""
    parts = vendor.split("_")
    return ["_".join(parts[:many]) for many in range(len(parts), 0, -1)]
