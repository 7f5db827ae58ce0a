"""What operators are called and where their mail goes: sealed, an operator of a tenant under a key of their own, which erasure destroys."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tidings.backoffice.credentials.pepper import OperatorPepper
from tidings.backoffice.ids import OperatorId
from tidings.backoffice.operators.model import OperatorRecord
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring

#: The platform key that seals what its own operators are called.
PURPOSE: Final = "operators"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorPerson:
    """An operator as colleagues know them."""

    name: str = field(repr=False)
    email: str = field(repr=False)


class OperatorPeople:
    """Seals and opens what is personal of operators."""

    def __init__(self, keyring: Keyring, pepper: OperatorPepper) -> None:
        self._keyring = keyring
        self._pepper = pepper

    async def hash_email(self, email: str) -> str:
        """What a mail is found by, however it is typed; ask before a transaction begins."""
        return await self._pepper.hash("email", email.strip().casefold())

    async def seal(
        self, tx: TenantTx | PlatformTx, operator_id: OperatorId, **said: str | bytes
    ) -> Mapping[str, bytes]:
        """Each value in a box of its own."""
        key = (await self._keys(tx, [operator_id], create=True))[operator_id]
        return {
            what: key.seal(value.encode() if isinstance(value, str) else value, _purpose(operator_id, what))
            for what, value in said.items()
        }

    async def unseal(
        self, tx: TenantTx | PlatformTx, operator_id: OperatorId, what: str, box: bytes
    ) -> bytes | None:
        """What is in one of these boxes; None where it can't be read any more."""
        return _opened((await self._keys(tx, [operator_id])).get(operator_id), operator_id, what, box)

    async def totp_secret(self, tx: TenantTx | PlatformTx, operator: OperatorRecord) -> bytes | None:
        """What their authenticator shares with us; None where they have none, or it can't be read any more."""
        keys = await self._keys(tx, [operator.id])
        return _opened(keys.get(operator.id), operator.id, "totp", operator.totp_ciphertext)

    async def opened(
        self, tx: TenantTx | PlatformTx, operator: OperatorRecord, what: str, box: bytes
    ) -> str | None:
        """What was sealed under that word; None once they were erased."""
        keys = await self._keys(tx, [operator.id])
        found = _opened(keys.get(operator.id), operator.id, what, box)
        return None if found is None else found.decode()

    async def open(
        self, tx: TenantTx | PlatformTx, operators: Sequence[OperatorRecord]
    ) -> dict[OperatorId, OperatorPerson]:
        """What they are called; those who were erased are left out."""
        keys = await self._keys(tx, [operator.id for operator in operators if operator.erased_at is None])
        people: dict[OperatorId, OperatorPerson] = {}
        for operator in operators:
            key = keys.get(operator.id)
            name = _opened(key, operator.id, "name", operator.name_ciphertext)
            email = _opened(key, operator.id, "email", operator.email_ciphertext)
            if name is not None and email is not None:
                people[operator.id] = OperatorPerson(name=name.decode(), email=email.decode())
        return people

    async def destroy(self, tx: TenantTx | PlatformTx, operator_id: OperatorId) -> None:
        """Destroy the key of an operator of a tenant: what it sealed can't be read from a backup either."""
        if isinstance(tx, TenantTx):
            await self._keyring.destroy(tx, [operator_id])

    async def _keys(
        self, tx: TenantTx | PlatformTx, operator_ids: Iterable[OperatorId], *, create: bool = False
    ) -> dict[OperatorId, DataKey]:
        wanted = list(operator_ids)
        if isinstance(tx, PlatformTx):
            key = await self._keyring.platform_key(tx, PURPOSE)
            return dict.fromkeys(wanted, key)
        found = await self._keyring.data_keys(tx, wanted, create=create)
        return {OperatorId(subject): key for subject, key in found.items()}


def _purpose(operator_id: OperatorId, what: str) -> str:
    # The platform's operators share a key: the box says whose it is.
    return f"operator:{operator_id}:{what}"


def _opened(key: DataKey | None, operator_id: OperatorId, what: str, box: bytes | None) -> bytes | None:
    if key is None or box is None:
        return None
    try:
        return key.unseal(box, _purpose(operator_id, what))
    except (UnreadableError, DestroyedKeyError):
        return None
