"""Preferences as the service `operators` has them, remembered here for when it does not answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from tidings.backoffice.announcements.tell import DeviceAnnouncements
from tidings.backoffice.attestations.attest import seat_of
from tidings.backoffice.ids import PREFERENCES, OperatorId
from tidings.backoffice.operators.people import OperatorPeople
from tidings.backoffice.preferences import store
from tidings.backoffice.preferences.errors import OperatorOfTenantError, UnknownPreferencesError
from tidings.backoffice.preferences.model import KnownPreferences, MirroredPreferences, encoded
from tidings.backoffice.properties.access import check_property
from tidings.backoffice.upstreams.client import Upstreams, at
from tidings.backoffice.upstreams.contract.operators import PutPreferences, UpstreamPreferences
from tidings.backoffice.upstreams.errors import UpstreamAwayError
from tidings.contracts.backoffice import PREFERENCES_CHANGED_SUBJECT, PreferencesChanged
from tidings.contracts.events import BACKOFFICE_SOURCE
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.events import new_event
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.ids import TenantId
from tidings.kernel.outbox import Outbox
from tidings.kernel.refusals import StaleVersionError
from tidings.kernel.tracing import current_traceparent

_PATH = "/v1/operators/{}/preferences"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whose:
    """Whose preferences, and for what."""

    tenant_id: TenantId
    operator_id: OperatorId
    property_id: str | None

    @property
    def query(self) -> Mapping[str, str]:
        return {} if self.property_id is None else {"property_id": self.property_id}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PreferencesMirror:
    """Everybody's are their own. No transaction is open while the service is asked."""

    db: Database
    upstreams: Upstreams
    people: OperatorPeople
    announcements: DeviceAnnouncements
    outbox: Outbox
    clock: Clock

    async def show(self, caller: Caller, property_id: str | None) -> KnownPreferences:
        """The caller's own; the service is asked where what is known is older than five minutes, or was changed there."""
        whose = _whose(caller, property_id)
        async with self.db.tenant(whose.tenant_id) as tx:
            kept = await store.find_preferences(
                tx, operator_id=whose.operator_id, property_id=whose.property_id
            )
            known = None if kept is None else await self._opened(tx, kept)
        if kept is not None and known is not None and kept.is_fresh(self.clock.now()):
            return known
        try:
            return await self._fetch(whose)
        except UpstreamAwayError:
            if known is None:
                raise
            return KnownPreferences(
                property_id=property_id, version=known.version, preferences=known.preferences, is_stale=True
            )

    async def put(
        self, caller: Caller, property_id: str | None, preferences: Mapping[str, Any], if_match: IfMatch
    ) -> KnownPreferences:
        """Change them at the service, from the version that the caller knows, then here."""
        whose = _whose(caller, property_id)
        encoded(preferences)
        known = await self.show(caller, property_id)
        if_match.expect(known.version)
        answer = await self.upstreams.call(
            "operators",
            "PUT",
            at(_PATH, whose.operator_id),
            tenant_id=whose.tenant_id,
            query=whose.query,
            body=PutPreferences(preferences=dict(preferences)),
            if_match=f'"{known.version}"',
        )
        if answer.status == 412:
            async with self.db.tenant(whose.tenant_id) as tx:
                await store.forget_preferences(tx, [whose.operator_id])
            raise StaleVersionError
        if answer.status != 200:
            raise UpstreamAwayError("operators", "refused")
        said = answer.read(UpstreamPreferences)
        async with self.db.tenant(whose.tenant_id) as tx:
            await self._keep(tx, whose, said)
            told = PreferencesChanged(
                operator_id=whose.operator_id, property_id=whose.property_id, version=said.version
            )
            event = new_event(
                PREFERENCES_CHANGED_SUBJECT,
                told,
                tenant_id=whose.tenant_id,
                ordering_key=whose.operator_id,
                source=BACKOFFICE_SOURCE,
                clock=self.clock,
                traceparent=current_traceparent(),
            )
            await self.outbox.append(tx, [event])
            await self.announcements.tell(
                tx,
                "preferences",
                tenant_id=whose.tenant_id,
                operator_id=whose.operator_id,
                facts={"version": said.version},
            )
        return KnownPreferences(property_id=property_id, version=said.version, preferences=said.preferences)

    async def _fetch(self, whose: _Whose) -> KnownPreferences:
        said = await self.upstreams.read(
            UpstreamPreferences,
            "operators",
            at(_PATH, whose.operator_id),
            tenant_id=whose.tenant_id,
            query=whose.query,
        )
        if said is None:
            raise UnknownPreferencesError
        async with self.db.tenant(whose.tenant_id) as tx:
            await self._keep(tx, whose, said)
        return KnownPreferences(
            property_id=whose.property_id, version=said.version, preferences=said.preferences
        )

    async def _keep(self, tx: TenantTx, whose: _Whose, said: UpstreamPreferences) -> None:
        now = self.clock.now()
        row_id = PREFERENCES.new(now)
        what = _box_of(whose.property_id)
        boxes = await self.people.seal(tx, whose.operator_id, **{what: encoded(said.preferences)})
        kept = MirroredPreferences(
            id=row_id,
            tenant_id=whose.tenant_id,
            operator_id=whose.operator_id,
            property_id=whose.property_id,
            payload_ciphertext=boxes[what],
            version=said.version,
            fetched_at=now,
        )
        await store.put_preferences(tx, kept, now=now)

    async def _opened(self, tx: TenantTx, kept: MirroredPreferences) -> KnownPreferences | None:
        what = _box_of(kept.property_id)
        text = await self.people.unseal(tx, kept.operator_id, what, kept.payload_ciphertext)
        if text is None:
            return None
        return KnownPreferences(
            property_id=kept.property_id,
            version=kept.version,
            preferences=msgspec.json.decode(text),
        )


def _box_of(property_id: str | None) -> str:
    """What the box is called: it is good for these preferences alone."""
    return f"preferences:{property_id or ''}"


def _whose(caller: Caller, property_id: str | None) -> _Whose:
    operator_id = seat_of(caller).operator_id
    if caller.home is None:
        raise OperatorOfTenantError
    if property_id is not None:
        check_property(caller, property_id)
    return _Whose(tenant_id=caller.home, operator_id=operator_id, property_id=property_id)
