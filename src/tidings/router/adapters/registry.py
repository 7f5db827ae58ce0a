"""Every adapter by its name: what it needs, what it can do, and how one is made from an account's settings.

Settings are a JSON object. A key that ends in `_ref`, at any depth, is a reference to a secret and is replaced by
what it leads to, under the name without `_ref`. The account's own `secret_ref` leads either to a JSON object, whose
keys are added to the settings, or to a plain text, which is the adapter's main credential.
"""

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import msgspec

from tidings.contracts.adapters import Adapter, Capabilities
from tidings.contracts.channel_configs import adapter_of
from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.explain import explain
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import InvalidError
from tidings.kernel.secrets import SecretResolver
from tidings.router.adapters.egress import Guard, anywhere
from tidings.router.adapters.http import HttpAdapter, HttpSettings
from tidings.router.adapters.smtp import FindSigners, SmtpAdapter, SmtpSettings

_DEEPEST = 8
#: Of this process alone: a mark says whether two texts are the same, and nothing about either.
_MARKING = os.urandom(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What an adapter is given beside its settings."""

    clock: Clock
    #: Whether an address may be connected to; a tenant's own accounts get a strict one.
    guard: Guard = anywhere
    #: Whose keys sign a tenant's mail; the account's own where this is None.
    find_signers: FindSigners | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterKind:
    """One line of the registry."""

    name: str
    channels: frozenset[str]
    capabilities: Capabilities
    #: Read strictly: unknown keys are refused.
    settings: type[msgspec.Struct]
    #: Settings that are secret, by their names.
    credential_fields: tuple[str, ...]
    #: The one that a secret of plain text fills; dots lead inwards.
    main_credential: str
    make: Callable[[Any, Surroundings], Adapter]


def _smtp(settings: SmtpSettings, around: Surroundings) -> Adapter:
    return SmtpAdapter(settings, clock=around.clock, guard=around.guard, find_signers=around.find_signers)


def _http(settings: HttpSettings, around: Surroundings) -> Adapter:
    return HttpAdapter(settings, clock=around.clock, guard=around.guard)


ADAPTERS: Final[Mapping[str, AdapterKind]] = {
    kind.name: kind
    for kind in (
        AdapterKind(
            name="smtp",
            channels=SmtpAdapter.channels,
            capabilities=SmtpAdapter.capabilities,
            settings=SmtpSettings,
            credential_fields=("username", "password", "dkim[].key"),
            main_credential="password",
            make=_smtp,
        ),
        AdapterKind(
            name="http",
            channels=HttpAdapter.channels,
            capabilities=HttpAdapter.capabilities,
            settings=HttpSettings,
            credential_fields=("secrets", "callback_secret"),
            main_credential="secrets.token",
            make=_http,
        ),
    )
}


@lru_cache(maxsize=4096)
def kind_of(vendor: str) -> AdapterKind | None:
    """The kind of a vendor's adapter: `http` of `http_acme`; None where there is none."""
    name = adapter_of(vendor, ADAPTERS)
    return None if name is None else ADAPTERS[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAccount:
    """An account's settings with their secrets, as they were when they were read."""

    kind: AdapterKind
    settings: msgspec.Struct = field(repr=False)
    #: Another one as soon as any setting or secret is another.
    mark: bytes = field(repr=False)

    def open(self, surroundings: Surroundings) -> Adapter:
        """Its adapter, ready to send."""
        return self.kind.make(self.settings, surroundings)


async def open_adapter(
    name: str,
    settings: Mapping[str, object],
    secrets: SecretResolver,
    *,
    surroundings: Surroundings,
    tenant_id: TenantId | None = None,
) -> Adapter:
    """The adapter, ready to send; errors name the setting. It connects when there is something to send."""
    return (await read_account(name, settings, secrets, tenant_id=tenant_id)).open(surroundings)


async def read_account(
    name: str, settings: Mapping[str, object], secrets: SecretResolver, *, tenant_id: TenantId | None = None
) -> ReadAccount:
    """The account with all that its references lead to now; errors name the setting."""
    kind = kind_of(name)
    if kind is None:
        known = ", ".join(sorted(ADAPTERS))
        raise BadValueError("vendor", f"must be one of {known}, or begin with one of these and _")
    found = await _resolve(kind, settings, secrets, tenant_id)
    try:
        read = msgspec.convert(found, kind.settings)
    except msgspec.ValidationError as error:
        raise InvalidError(explain(found, kind.settings, error)) from None
    content = msgspec.json.encode(found, order="deterministic")
    mark = hashlib.blake2b(content, key=_MARKING, digest_size=16).digest()
    return ReadAccount(kind=kind, settings=read, mark=mark)


async def _resolve(
    kind: AdapterKind, settings: Mapping[str, object], secrets: SecretResolver, tenant_id: TenantId | None
) -> dict[str, Any]:
    given = dict(settings)
    ref = given.pop("secret_ref", None)
    found = await _revealed(given, secrets, tenant_id, "", 0)
    if not isinstance(found, dict):
        raise BadValueError("settings", "must be an object")
    if ref is None:
        return found
    text = (await secrets.resolve(_text(ref, "secret_ref"), tenant_id=tenant_id, field="secret_ref")).reveal()
    if text.lstrip().startswith("{"):
        try:
            more = msgspec.json.decode(text, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeError):
            raise BadValueError(
                "secret_ref", "leads to a text that begins with { and is no JSON object"
            ) from None
        return {**found, **more}
    *path, last = kind.main_credential.split(".")
    place = found
    for step in path:
        place = place.setdefault(step, {})
    place[last] = text
    return found


async def _revealed(
    value: object, secrets: SecretResolver, tenant_id: TenantId | None, path: str, depth: int
) -> Any:
    if depth > _DEEPEST:
        raise BadValueError(path, "is nested too deeply")
    if isinstance(value, list | tuple):
        return [
            await _revealed(v, secrets, tenant_id, f"{path}[{i}]", depth + 1) for i, v in enumerate(value)
        ]
    if not isinstance(value, Mapping):
        return value
    found: dict[str, Any] = {}
    for name, inner in value.items():
        where = f"{path}.{name}" if path else str(name)
        if isinstance(name, str) and name.endswith("_ref"):
            secret = await secrets.resolve(_text(inner, where), tenant_id=tenant_id, field=where)
            found[name.removesuffix("_ref")] = secret.reveal()
        else:
            found[str(name)] = await _revealed(inner, secrets, tenant_id, where, depth + 1)
    return found


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise BadValueError(field, "must be a reference such as file://smtp/password")
    return value
