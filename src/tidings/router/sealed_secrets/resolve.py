"""Finds the secret behind `sealed://name`: the owner's own, whatever the reference claims."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tidings.kernel.db import Database
from tidings.kernel.errors import DatabaseError
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.secrets import Secret, SecretNotFoundError, SecretStoreError, after_scheme
from tidings.router.sealed_secrets import store
from tidings.router.sealed_secrets.model import SCHEME
from tidings.router.sealed_secrets.sealing import unseal

#: What a caller wants to enter: read in its place while the adapters look at it.
_tried: ContextVar[tuple[TenantId | None, str, str] | None] = ContextVar("tried_secret", default=None)


@contextmanager
def trying(owner: TenantId | None, name: str, text: str) -> Iterator[None]:
    """Read this in place of what is stored, in this task alone."""
    mark = _tried.set((owner, name, text))
    try:
        yield
    finally:
        _tried.reset(mark)


class SealedSecrets:
    """Reads them out of the database."""

    def __init__(self, db: Database, keyring: Keyring) -> None:
        self._db = db
        self._keyring = keyring

    async def resolve(
        self, ref: str, *, tenant_id: TenantId | None = None, field: str = "secret_ref"
    ) -> Secret:
        """The secret of this name that the tenant, or the platform, has entered."""
        name = after_scheme(ref, SCHEME, field)
        tried = _tried.get()
        if tried is not None and tried[:2] == (tenant_id, name):
            return Secret(tried[2])
        try:
            async with self._db.scoped(tenant_id) as tx:
                found = (await store.find_secrets(tx, [name])).get(name)
                if found is None:
                    raise SecretNotFoundError(
                        f"{field}: no secret of this name was entered; PUT /api/v1/router/secrets/<name> enters one"
                    )
                return Secret(await unseal(self._keyring, tx, found))
        except (UnreadableError, DestroyedKeyError):
            raise SecretNotFoundError(
                f"{field}: the secret of this name can't be opened; enter it again"
            ) from None
        except DatabaseError as error:
            raise SecretStoreError(f"{field}: the database can't be asked right now") from error
