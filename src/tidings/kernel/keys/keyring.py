"""Keys of tenants and their subjects: the master key wraps the tenant's, that one wraps a subject's, and that one seals content.

Everything takes the caller's transaction, so a new subject and its key are committed together, and an erasure
destroys the key in the transaction that says so. Rotation is in `rotation.py`.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple, TypeAlias

from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, Row, TenantsTx, TenantTx
from tidings.kernel.errors import DatabaseBusyError
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.ciphers import KEY_BYTES, Key, UnreadableError, associate, seal, unseal
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.kms import Kms
from tidings.kernel.keys.pepper import Pepper
from tidings.kernel.sql import Queries
from tidings.kernel.ttl_cache import TtlCache

QUERIES = Queries.beside(__file__)

#: Whose key it is: the tenant, and its subject there.
Subject: TypeAlias = tuple[TenantId, str]


class StoredKey(NamedTuple):
    """One version of a data key as it is stored."""

    version: int
    #: None: destroyed.
    wrapped_key: bytes | None
    #: The version of the tenant's wrapping key that it is under.
    tenant_key_version: int

    def __repr__(self) -> str:
        return f"StoredKey(version={self.version}, ***)"


class FreshKey(NamedTuple):
    """The key of a subject that is about to be made, and the form in which it is stored."""

    key: DataKey
    wrapped_key: bytes
    tenant_key_version: int

    def __repr__(self) -> str:
        return f"FreshKey({self.key!r})"


_ATTEMPTS = 5
_TOO_OFTEN = "the tenant's key is being rotated too often to make new keys; try again"


class Keyring:
    """Finds, makes and destroys keys."""

    def __init__(
        self,
        kms: Kms,
        *,
        clock: Clock,
        cache_size: int = 20_000,
        cache_ttl: timedelta = timedelta(minutes=5),
    ) -> None:
        self.kms = kms
        # Found by the very token they came from: one that was rolled back, re-wrapped or swapped is another
        # token and finds nothing, so there is nothing to invalidate.
        self._unwrapped: TtlCache[tuple[bytes, bytes], bytes] = TtlCache(
            clock=clock, size=cache_size, ttl=cache_ttl
        )
        self._peppers: TtlCache[TenantId | None, Pepper] = TtlCache(
            clock=clock, size=cache_size, ttl=cache_ttl
        )

        # A version of a tenant's wrapping key never changes. Which one is the newest does: the statement that writes a data key
        # under it looks, and what was remembered is forgotten.
        self._wrapping: TtlCache[tuple[TenantId, int], Key] = TtlCache(
            clock=clock, size=cache_size, ttl=cache_ttl
        )
        self._newest: TtlCache[TenantId, Key] = TtlCache(clock=clock, size=cache_size, ttl=cache_ttl)

    async def provision(self, tx: TenantTx) -> None:
        """Make the tenant's wrapping key and pepper, if it has none; read-only callers then find them."""
        await self.data_keys(tx, [])
        await self.pepper(tx)

    async def data_keys(
        self, tx: TenantTx, subject_ids: Iterable[str], *, create: bool = True
    ) -> dict[str, DataKey]:
        """The keys of these subjects, made where they are missing (or, without `create`, left out).

        An erased subject's key is in the answer too and raises `DestroyedKeyError` when it is used.
        """
        subjects = [(tx.tenant_id, subject) for subject in subject_ids]
        found = await self.data_keys_of(tx, subjects, owners=(tx.tenant_id,), create=create)
        return {subject: key for (_, subject), key in found.items()}

    async def data_keys_of(
        self,
        tx: TenantTx | TenantsTx,
        subjects: Iterable[Subject],
        *,
        owners: Iterable[TenantId] = (),
        create: bool = True,
    ) -> dict[Subject, DataKey]:
        """The same for subjects of several tenants; `owners` get their wrapping key whether or not one of theirs is asked for."""
        wanted = sorted(set(subjects))
        tenants = sorted({*owners, *(tenant_id for tenant_id, _ in wanted)})
        found: dict[Subject, DataKey] = {}
        for _ in range(_ATTEMPTS):
            wrapping, loaded = await self._load(tx, tenants, [one for one in wanted if one not in found])
            found.update(loaded)
            missing = [one for one in wanted if one not in found]
            keyless = [tenant_id for tenant_id in tenants if tenant_id not in wrapping]
            if keyless and create:
                await self._make_tenant_keys(tx, keyless, "wrapping")
            elif not missing or not create:
                return found
            else:
                found.update(await self._make_data_keys(tx, missing, wrapping, version=1))
        raise DatabaseBusyError(_TOO_OFTEN)

    async def open_keys(
        self,
        tx: TenantTx | TenantsTx,
        stored: Mapping[Subject, Sequence[StoredKey]],
        *,
        create: bool = True,
    ) -> dict[Subject, DataKey]:
        """The keys of subjects whose stored keys the caller has read in this transaction; no statement, as a rule.

        A key that is missing is made (or, without `create`, left out).
        """
        found: dict[Subject, DataKey] = {}
        rest: list[Subject] = []
        remembered = self._wrapping.get
        for subject, versions in stored.items():
            tenant_id, subject_id = subject
            wrapping: dict[int, Key] = {}
            known = bool(versions)
            for one in versions:
                if one.wrapped_key is not None:
                    key = remembered((tenant_id, one.tenant_key_version))
                    if key is None:
                        known = False
                    else:
                        wrapping[one.tenant_key_version] = key
            if known:
                found[subject] = _open_subject(tenant_id, subject_id, versions, wrapping)
            elif versions or create:
                rest.append(subject)
        return {**found, **await self.data_keys_of(tx, rest, create=create)} if rest else found

    async def new_keys(
        self, tx: TenantTx | TenantsTx, subjects: Sequence[Subject]
    ) -> dict[Subject, FreshKey]:
        """Keys of subjects that are new, for a statement that writes them along with the subjects themselves.

        No statement, where the tenants' wrapping keys are remembered. What is remembered may be out of date: the
        statement writes nothing under a wrapping key that is not the newest in use, and the caller then calls
        `forget_newest` and tries again.
        """
        tenants = {tenant_id for tenant_id, _ in subjects}
        wrapping = {one: key for one in tenants if (key := self._newest.get(one)) is not None}
        for _ in range(_ATTEMPTS):
            rest = sorted(tenants - wrapping.keys())
            if not rest:
                return {subject: _new_key(subject, wrapping[subject[0]]) for subject in subjects}
            found, _ = await self._load(tx, rest, [])
            wrapping |= found
            if keyless := [tenant_id for tenant_id in rest if tenant_id not in found]:
                await self._make_tenant_keys(tx, keyless, "wrapping")
        raise DatabaseBusyError(_TOO_OFTEN)

    def forget_newest(self, tenant_ids: Iterable[TenantId]) -> None:
        """Read anew which wrapping keys of these tenants are the newest."""
        for tenant_id in tenant_ids:
            self._newest.forget(tenant_id)

    async def data_key(self, tx: TenantTx, subject_id: str) -> DataKey:
        """One subject's key, made if it is missing."""
        return (await self.data_keys(tx, [subject_id]))[subject_id]

    async def destroy(self, tx: TenantTx, subject_ids: Iterable[str]) -> None:
        """Destroy all versions of these subjects' keys: nothing that they sealed can be read after the commit."""
        wanted = sorted(set(subject_ids))
        await tx.execute(QUERIES.bury_subjects, subject_ids=wanted)
        await tx.execute(QUERIES.destroy_versions, subject_ids=wanted)

    async def recreate(self, tx: TenantTx, subject_id: str) -> DataKey:
        """A new key for a subject that was erased and comes back; what the old one sealed stays unreadable."""
        await self._lock_subject(tx, subject_id)
        present = await self.data_key(tx, subject_id)
        return await self._add_version(tx, present) if present.destroyed else present

    async def pepper(self, tx: TenantTx) -> Pepper:
        """The tenant's pepper, made at its first use and never changed."""
        return (await self.peppers(tx, [tx.tenant_id]))[tx.tenant_id]

    async def peppers(
        self, tx: TenantTx | TenantsTx, tenant_ids: Iterable[TenantId]
    ) -> dict[TenantId, Pepper]:
        """The same for several tenants."""
        wanted = sorted(set(tenant_ids))
        found = {one: pepper for one in wanted if (pepper := self._peppers.get(one)) is not None}
        for _ in range(2):
            missing = [one for one in wanted if one not in found]
            if not missing:
                return found
            found |= await self._load_peppers(tx, missing)
            keyless = [one for one in missing if one not in found]
            if keyless:
                # A process that makes both makes the wrapping key first, or two who begin a tenant's life wait for each other.
                await self.data_keys_of(tx, [], owners=keyless)
                await self._make_tenant_keys(tx, keyless, "pepper")
        if len(found) < len(wanted):
            raise DatabaseBusyError("a tenant's pepper can't be read back; try again")
        return found

    async def warm_up(self, tx: TenantsTx, tenant_ids: Sequence[TenantId]) -> None:
        """Remember the keys of these tenants that have some; none is made."""
        await self._load(tx, tenant_ids, [])
        await self._load_peppers(tx, [one for one in tenant_ids if self._peppers.get(one) is None])

    async def platform_pepper(self, tx: PlatformTx) -> Pepper:
        """The pepper for platform-wide suppressions."""
        known = self._peppers.get(None)
        if known is not None:
            return known
        row = (await self._platform_rows(tx, "pepper"))[0]
        material = await self._unwrap(row["wrapped_key"], platform_key_aad("pepper", 1))
        return self._remember_pepper(None, Pepper(material), row)

    async def platform_key(self, tx: PlatformTx, purpose: str) -> DataKey:
        """The platform's own key for a purpose."""
        keys: dict[int, Key] = {}
        for row in await self._platform_rows(tx, purpose):
            aad = platform_key_aad(purpose, row["version"])
            keys[row["version"]] = Key(row["version"], await self._unwrap(row["wrapped_key"], aad))
        return DataKey("", f"_platform/{purpose}", keys, max(keys))

    async def platform_hash_key(self, tx: PlatformTx, purpose: str) -> Pepper:
        """The platform's own key of keyed hashes for a purpose, made at its first use and never changed."""
        row = (await self._platform_rows(tx, purpose))[0]
        return Pepper(await self._unwrap(row["wrapped_key"], platform_key_aad(purpose, row["version"])))

    async def has_platform_key(self, tx: PlatformTx, purpose: str) -> bool:
        """Whether it was made already."""
        return bool(await tx.fetch(QUERIES.load_platform_keys, purpose=purpose))

    async def tenant_key(self, tenant_id: str, row: Row) -> Key:
        """The wrapping key in a row of tenant_keys."""
        aad = tenant_key_aad(tenant_id, "wrapping", row["version"])
        return Key(row["version"], await self._unwrap(row["wrapped_key"], aad))

    async def _load(
        self, tx: TenantTx | TenantsTx, tenant_ids: Sequence[TenantId], subjects: Sequence[Subject]
    ) -> tuple[dict[TenantId, Key], dict[Subject, DataKey]]:
        """The newest active wrapping key of each tenant, and the keys of those subjects that have one."""
        rows = await tx.fetch(
            QUERIES.load_keys,
            owner_ids=tenant_ids,
            tenant_ids=[tenant_id for tenant_id, _ in subjects],
            subject_ids=[subject for _, subject in subjects],
        )
        wrapping: dict[TenantId, dict[int, Key]] = {}
        active: dict[TenantId, Key] = {}
        by_subject: dict[Subject, list[StoredKey]] = {}
        unsettled: set[TenantId] = set()
        for row in rows:
            owner = TenantId(row["tenant_id"])
            if row["subject_id"] is not None:
                stored = StoredKey(row["version"], row["wrapped_key"], row["tenant_key_version"])
                by_subject.setdefault((owner, row["subject_id"]), []).append(stored)
                continue
            key = await self.tenant_key(owner, row)
            wrapping.setdefault(owner, {})[key.version] = key
            if row["settled"]:
                self._wrapping.put((owner, key.version), key)
            else:
                unsettled.add(owner)
            if row["state"] == "active" and (owner not in active or active[owner].version < key.version):
                active[owner] = key
        for owner in active.keys() - unsettled:
            self._newest.put(owner, active[owner])
        return active, {
            (owner, subject): _open_subject(owner, subject, versions, wrapping.get(owner, {}))
            for (owner, subject), versions in by_subject.items()
        }

    async def _load_peppers(
        self, tx: TenantTx | TenantsTx, tenant_ids: Sequence[TenantId]
    ) -> dict[TenantId, Pepper]:
        found: dict[TenantId, Pepper] = {}
        for row in await tx.fetch(QUERIES.load_peppers, tenant_ids=tenant_ids):
            owner = TenantId(row["tenant_id"])
            material = await self._unwrap(row["wrapped_key"], tenant_key_aad(owner, "pepper", 1))
            found[owner] = self._remember_pepper(owner, Pepper(material), row)
        return found

    async def _make_data_keys(
        self,
        tx: TenantTx | TenantsTx,
        subjects: Sequence[Subject],
        wrapping: Mapping[TenantId, Key],
        *,
        version: int,
    ) -> dict[Subject, DataKey]:
        """Those that we made; a subject that another transaction made a key for is not among them."""
        keys = {subject: Key.new(version) for subject in subjects}
        rows = await tx.fetch(
            QUERIES.insert_data_keys,
            tenant_ids=[tenant_id for tenant_id, _ in subjects],
            subject_ids=[subject_id for _, subject_id in subjects],
            versions=[version] * len(subjects),
            wrapped_keys=[
                wrap_data_key(*subject, key, wrapping[subject[0]]) for subject, key in keys.items()
            ],
            tenant_key_versions=[wrapping[tenant_id].version for tenant_id, _ in subjects],
        )
        made = {(TenantId(row["tenant_id"]), row["subject_id"]) for row in rows}
        return {
            subject: DataKey(*subject, {version: key}, version)
            for subject, key in keys.items()
            if subject in made
        }

    async def _lock_subject(self, tx: TenantTx, subject_id: str) -> None:
        # Made first if there is none: its row is the lock. What was read before the lock may have changed since.
        await self.data_keys(tx, [subject_id])
        await tx.fetch_value(QUERIES.lock_subject, subject_id=subject_id)

    async def _add_version(self, tx: TenantTx, present: DataKey) -> DataKey:
        """Under the lock: no other process adds or destroys versions meanwhile."""
        subject, version = (tx.tenant_id, present.subject_id), present.version + 1
        for _ in range(_ATTEMPTS):
            wrapping, _ = await self._load(tx, [tx.tenant_id], [subject])
            if await self._make_data_keys(tx, [subject], wrapping, version=version):
                return (await self._load(tx, [tx.tenant_id], [subject]))[1][subject]
        raise DatabaseBusyError(_TOO_OFTEN)

    async def _make_tenant_keys(
        self, tx: TenantTx | TenantsTx, tenant_ids: Sequence[TenantId], purpose: str
    ) -> None:
        tokens = [
            await self.kms.wrap(os.urandom(KEY_BYTES), tenant_key_aad(tenant_id, purpose, 1))
            for tenant_id in tenant_ids
        ]
        await tx.execute(
            QUERIES.insert_tenant_keys,
            tenant_ids=tenant_ids,
            purpose=purpose,
            wrapped_keys=tokens,
            master_key_ids=[self.kms.key_id_of(token) for token in tokens],
        )

    async def _platform_rows(self, tx: PlatformTx, purpose: str) -> list[Row]:
        rows = await tx.fetch(QUERIES.load_platform_keys, purpose=purpose)
        if rows:
            return rows
        token = await self.kms.wrap(os.urandom(KEY_BYTES), platform_key_aad(purpose, 1))
        await tx.execute(
            QUERIES.insert_platform_key,
            purpose=purpose,
            wrapped_key=token,
            master_key_id=self.kms.key_id_of(token),
        )
        return await tx.fetch(QUERIES.load_platform_keys, purpose=purpose)

    async def _unwrap(self, token: bytes, aad: bytes) -> bytes:
        known = self._unwrapped.get((aad, token))
        if known is None:
            known = await self.kms.unwrap(token, aad)
            self._unwrapped.put((aad, token), known)
        return known

    def _remember_pepper(self, owner: TenantId | None, pepper: Pepper, row: Row) -> Pepper:
        # A row of this very transaction may yet be rolled back, and then the next pepper is another one.
        if row["settled"]:
            self._peppers.put(owner, pepper)
        return pepper


def tenant_key_aad(tenant_id: str, purpose: str, version: int) -> bytes:
    """What a wrapped tenant key is bound to."""
    return associate(tenant_id, "", f"tenant-key:{purpose}:{version}")


def platform_key_aad(purpose: str, version: int) -> bytes:
    """What a wrapped platform key is bound to."""
    return associate("", "", f"platform-key:{purpose}:{version}")


def wrap_data_key(tenant_id: str, subject_id: str, key: Key, wrapping: Key) -> bytes:
    """The form in which a data key is stored."""
    return seal(wrapping, key.reveal(), _data_key_aad(tenant_id, subject_id, key.version))


def unwrap_data_key(tenant_id: str, subject_id: str, version: int, wrapped: bytes, wrapping: Key) -> Key:
    """The data key in a row; an `UnreadableError` that names the subject where the row was tampered with."""
    try:
        return Key(version, unseal(wrapping, wrapped, _data_key_aad(tenant_id, subject_id, version)))
    except (UnreadableError, ValueError):
        pass
    raise UnreadableError(f"the stored key of {subject_id} is damaged, or it was moved there from elsewhere")


def _new_key(subject: Subject, wrapping: Key) -> FreshKey:
    key = Key.new(1)
    return FreshKey(DataKey(*subject, {1: key}, 1), wrap_data_key(*subject, key, wrapping), wrapping.version)


def _data_key_aad(tenant_id: str, subject_id: str, version: int) -> bytes:
    return associate(tenant_id, subject_id, f"data-key:{version}")


def _open_subject(
    tenant_id: str, subject_id: str, stored: Sequence[StoredKey], wrapping: Mapping[int, Key]
) -> DataKey:
    keys = {
        one.version: unwrap_data_key(
            tenant_id, subject_id, one.version, one.wrapped_key, wrapping[one.tenant_key_version]
        )
        for one in stored
        if one.wrapped_key is not None
    }
    return DataKey(tenant_id, subject_id, keys, max(one.version for one in stored))
