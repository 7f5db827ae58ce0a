"""`vault://smtp/password`: secrets that HashiCorp Vault keeps, in one KV engine of version 2.

`vault://smtp` leads to all keys of the secret at `smtp`, as a JSON object; `vault://smtp#password` to one of them;
a secret whose only key is `value` leads to that text. A tenant's reference is looked up below
`tenants/<tenant id>/`, so that whatever it says it reads no other tenant's.
"""

import json
from datetime import timedelta
from functools import partial
from typing import Any

from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.secrets import MAX_SECRET_BYTES, Secret, SecretNotFoundError, after_scheme
from tidings.kernel.secrets_vault_client import VaultClient
from tidings.kernel.ttl_cache import TtlCache

#: Secrets that are remembered at once, each for a few seconds.
_MOST = 1_000


class VaultSecrets:
    """Asks Vault, at most once in `fresh` for the same secret."""

    def __init__(
        self,
        client: VaultClient,
        *,
        clock: Clock,
        mount: str = "secret",
        tenants: str = "tenants",
        fresh: timedelta = timedelta(seconds=5),
    ) -> None:
        """`tenants` is the folder below which every tenant has its own."""
        self._client = client
        self._mount = mount.strip("/")
        self._tenants = tenants.strip("/")
        self._known: TtlCache[str, dict[str, Any] | None] = TtlCache(clock=clock, size=_MOST, ttl=fresh)

    async def resolve(
        self, ref: str, *, tenant_id: TenantId | None = None, field: str = "secret_ref"
    ) -> Secret:
        """The secret's text; a `SecretStoreError` where Vault can't be asked just now."""
        named, mark, key = ref.partition("#")
        path = after_scheme(named, "vault", field)
        if any(part in {"", ".", ".."} for part in path.split("/")):
            raise BadValueError(field, "must be a plain path, without empty, . or .. parts")
        if mark and (not key or not key.isprintable() or "#" in key):
            raise BadValueError(field, "must have the name of a key after the #")
        if tenant_id is not None:
            path = f"{self._tenants}/{TENANT.parse(tenant_id, field='tenant_id')}/{path}"
        text = _text(await self._read(path, field), key if mark else None)
        if not text or len(text.encode("utf-8", "surrogatepass")) > MAX_SECRET_BYTES:
            raise SecretNotFoundError(
                f"{field}: the secret in Vault has no such key, is empty, or over {MAX_SECRET_BYTES} bytes"
            )
        return Secret(text)

    async def _read(self, path: str, field: str) -> dict[str, Any]:
        # Many sends may miss the same secret at once: the cache asks once.
        found = await self._known.get_or_fetch(path, partial(self._client.read, self._mount))
        if found is None:
            self._known.forget(path)
            raise SecretNotFoundError(f"{field}: Vault has no such secret, or it was deleted")
        return found


def _text(found: dict[str, Any], key: str | None) -> str:
    if key is None and set(found) != {"value"}:
        return json.dumps(found) if found else ""
    value = found.get(key or "value")
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value)
