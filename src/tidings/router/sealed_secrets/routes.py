"""Operations on entered secrets: of a tenant, and under `/internal` of the platform."""

import re
from typing import Annotated, Final

from tidings.kernel.errors import BadValueError
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import OpenTx, OwnerTx, Parsed
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.secrets import SecretStoreError
from tidings.router.accounts.errors import SecretsNotAskedError
from tidings.router.sealed_secrets.change_secret import SecretChanger
from tidings.router.sealed_secrets.wire import PutSecret, SecretList, SecretView

secrets = Resource(
    "secrets", at="/router/secrets", tag="adapters", scope="router", owner=Owner.TENANT_OR_PLATFORM
)

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


def _name_in_path(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise BadValueError("name", "must be 1 to 63 small letters, digits, dots, dashes or underscores")
    return name


_Name = Annotated[str, Parsed(_name_in_path)]


@secrets.get()
async def list_secrets(tx: OwnerTx, keeper: SecretChanger) -> SecretList:
    """List the secrets that were entered, and which accounts read them; never what is in them."""
    return SecretList(items=[SecretView.of(secret) for secret in await keeper.list(tx)])


@secrets.put("/{name}", attested="credential.change", problems=["secrets_unavailable"])
async def put_secret(
    open_tx: OpenTx[OwnerTx], name: _Name, body: PutSecret, caller: Caller, keeper: SecretChanger
) -> SecretView:
    """Enter a secret, or another in its place.

    It is sealed under a key of its owner and shown to nobody again; accounts name it as `sealed://<name>` in
    `secret_ref`. Where accounts read it already, the new one is looked at first as each of them would use it, and all
    processes read it within a second.
    """
    try:
        kept = await keeper.put(open_tx, caller.tenant_id, name, body.text(), actor=caller.actor)
    except SecretStoreError as error:
        raise SecretsNotAskedError(f"{error}; nothing was changed") from None
    return SecretView.of(kept)


@secrets.delete("/{name}", attested="credential.change", problems=["secret_unknown", "secret_in_use"])
async def delete_secret(tx: OwnerTx, name: _Name, caller: Caller, keeper: SecretChanger) -> None:
    """Remove a secret that no account reads any more; its key is destroyed."""
    await keeper.remove(tx, name, actor=caller.actor)
