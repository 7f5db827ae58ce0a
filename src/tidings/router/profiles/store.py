"""The only Python here that runs SQL on profiles."""

from collections.abc import Sequence
from datetime import datetime

from tidings.contracts.ids import RecipientId
from tidings.kernel.db import TenantsTx, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import columns
from tidings.kernel.sql import Queries, sparse
from tidings.router.profiles.model import PROFILE, Discovery, Observation, Profile, ProfileId, SealedId
from tidings.router.profiles.observe import observed
from tidings.router.profiles.rows import channels_text, from_row, times_text

QUERIES = Queries.beside(__file__)


async def learn(tx: TenantTx, observations: Sequence[Observation], *, now: datetime) -> None:
    """Take in what a set of steps taught, in the transaction that records them: two statements, however many.

    Of a recipient who was erased nothing is learned. Call it once in a transaction, so that all who write profiles lock
    them in one order.
    """
    if not observations:
        return
    by_person: dict[RecipientId, list[Observation]] = {}
    for one in observations:
        by_person.setdefault(one.recipient_id, []).append(one)
    known = await open_profiles(tx, list(by_person), now=now)
    await write_profiles(
        tx, [observed(profile, by_person[person], now=now) for person, profile in known.items()]
    )


async def load(tx: TenantTx, recipient_ids: Sequence[RecipientId]) -> dict[RecipientId, Profile]:
    """What is known about them; recipients without a profile are left out."""
    known = await load_of_all(tx, [(tx.tenant_id, one) for one in sorted(set(recipient_ids))])
    return {recipient_id: profile for (_, recipient_id), profile in known.items()}


async def load_of_all(
    tx: TenantTx | TenantsTx, people: Sequence[tuple[TenantId, RecipientId]]
) -> dict[tuple[TenantId, RecipientId], Profile]:
    """The same for people of several tenants, each given with their tenant."""
    if not people:
        return {}
    rows = await tx.fetch(
        QUERIES.load_profiles,
        tenant_ids=[tenant_id for tenant_id, _ in people],
        recipient_ids=[recipient_id for _, recipient_id in people],
    )
    return {(row["tenant_id"], RecipientId(row["recipient_id"])): from_row(row) for row in rows}


async def open_profiles(
    tx: TenantTx, recipient_ids: Sequence[RecipientId], *, now: datetime
) -> dict[RecipientId, Profile]:
    """Their profiles, made where there were none, and ours until the transaction ends; those who were erased have none."""
    people = sorted(set(recipient_ids))
    rows = await tx.fetch(
        QUERIES.open_profiles, now=now, ids=[PROFILE.new(now) for _ in people], recipient_ids=people
    )
    return {RecipientId(row["recipient_id"]): from_row(row) for row in rows}


async def write_profiles(tx: TenantTx, profiles: Sequence[Profile]) -> None:
    """Write profiles that were opened in this transaction."""
    if not profiles:
        return
    telegram, viber = [p.telegram_chat_id for p in profiles], [p.viber_id for p in profiles]
    await tx.execute(
        QUERIES.write_profiles,
        **columns(profiles, "recipient_id last_observed_at last_successful_channel"),
        channel_preferences=[channels_text(p) for p in profiles],
        field_times=[times_text(p) for p in profiles],
        discovery_states=[p.discovery.value for p in profiles],
        whatsapps=[p.has_whatsapp_business.value for p in profiles],
        voices=[p.voice_otp_supported.value for p in profiles],
        emails=[p.email_verified for p in profiles],
        telegram_hashes=sparse([_hash(one) for one in telegram]),
        telegram_ciphertexts=sparse([_ciphertext(one) for one in telegram]),
        viber_hashes=sparse([_hash(one) for one in viber]),
        viber_ciphertexts=sparse([_ciphertext(one) for one in viber]),
    )


async def lock_profile(tx: TenantTx, recipient_id: RecipientId) -> Profile | None:
    """One person's profile, ours until the transaction ends."""
    row = await tx.fetch_one(QUERIES.lock_profile, recipient_id=recipient_id)
    return None if row is None else from_row(row)


async def delete_profile(tx: TenantTx, recipient_id: RecipientId) -> bool:
    """Remove what was learned about one person; whether there was anything."""
    return bool(await tx.execute(QUERIES.delete_profile, recipient_id=recipient_id))


async def list_profiles(
    tx: TenantTx, *, discovery: Discovery | None, after_id: str | None, limit: int
) -> list[Profile]:
    """Profiles, the newest first."""
    query = QUERIES.list_profiles if discovery is None else QUERIES.list_profiles_by_discovery
    filtered = {} if discovery is None else {"discovery": discovery.value}
    rows = await tx.fetch(
        query, after_id=None if after_id is None else ProfileId(after_id), limit=limit, **filtered
    )
    return [from_row(row) for row in rows]


def _hash(sealed: SealedId | None) -> str | None:
    return None if sealed is None else sealed.hash


def _ciphertext(sealed: SealedId | None) -> bytes | None:
    return None if sealed is None else sealed.ciphertext
