"""Every adapter by its name, and how one is made from an account's settings.

Settings are a JSON object. A key that ends in `_ref`, at any depth, is a reference to a secret and is replaced by
what it leads to, under the name without `_ref`. The account's own `secret_ref` leads either to a JSON object, whose
keys are added to the settings and may be references too, or to a plain text, which is the adapter's main credential.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any, Final

import msgspec

from tidings.contracts.adapters import Adapter
from tidings.contracts.channel_configs import adapter_of
from tidings.kernel.errors import BadValueError, NotConfiguredError
from tidings.kernel.http.field_errors import explain, printable
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger
from tidings.kernel.refusals import InvalidError
from tidings.kernel.secrets import SecretNotFoundError, SecretResolver
from tidings.router.adapters.apns.adapter import KIND as APNS
from tidings.router.adapters.fcm.adapter import KIND as FCM
from tidings.router.adapters.http.adapter import KIND as HTTP
from tidings.router.adapters.kind import AdapterContext, AdapterKind
from tidings.router.adapters.mailgun.adapter import KIND as MAILGUN
from tidings.router.adapters.postmark.adapter import KIND as POSTMARK
from tidings.router.adapters.sendgrid.adapter import KIND as SENDGRID
from tidings.router.adapters.ses.adapter import KIND as SES
from tidings.router.adapters.smpp.adapter import KIND as SMPP
from tidings.router.adapters.smtp.adapter import KIND as SMTP
from tidings.router.adapters.telegram_bot.adapter import KIND as TELEGRAM_BOT
from tidings.router.adapters.twilio.adapter import KIND as TWILIO
from tidings.router.adapters.viber.adapter import KIND as VIBER
from tidings.router.adapters.voice_otp_gateway.adapter import KIND as VOICE_OTP_GATEWAY
from tidings.router.adapters.vonage.adapter import KIND as VONAGE
from tidings.router.adapters.webpush.adapter import KIND as WEBPUSH
from tidings.router.adapters.whatsapp_cloud.adapter import KIND as WHATSAPP_CLOUD

__all__ = [
    "ADAPTERS",
    "AdapterContext",
    "AdapterKind",
    "LostReferenceError",
    "ReadAccount",
    "kind_of",
    "open_adapter",
    "read_account",
]

_log = get_logger("adapters")
_DEEPEST = 8
#: References in one account: each is a question to the secret store, and all that they lead to is held at once.
_MOST_REFERENCES = 64
#: Of this process alone: a mark says whether two texts are the same, and nothing about either.
_MARKING = os.urandom(32)


#: Where packages of other people name theirs: `name = "package.module:KIND"`.
ENTRY_POINTS: Final = "tidings.adapters"
_OURS: Final = (
    APNS,
    FCM,
    HTTP,
    MAILGUN,
    POSTMARK,
    SENDGRID,
    SES,
    SMPP,
    SMTP,
    TELEGRAM_BOT,
    TWILIO,
    VIBER,
    VOICE_OTP_GATEWAY,
    VONAGE,
    WEBPUSH,
    WHATSAPP_CLOUD,
)


def _found() -> dict[str, AdapterKind]:
    """Ours, and those that installed packages bring; none takes the place of another."""
    kinds = {kind.name: kind for kind in _OURS}
    for point in entry_points(group=ENTRY_POINTS):
        try:
            kind = point.load()
        except Exception as error:  # noqa: BLE001  # a package that is broken must not stop all the others
            _log.error("adapter_not_loaded", entry_point=point.name, error=type(error).__name__)
            continue
        if not isinstance(kind, AdapterKind) or kind.name in kinds:
            _log.error("adapter_passed_over", entry_point=point.name)
            continue
        kinds[kind.name] = kind
    return kinds


ADAPTERS: Final[Mapping[str, AdapterKind]] = _found()


class LostReferenceError(SecretNotFoundError):
    """A reference among the settings leads to no secret."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        #: The setting that is the reference: `secret_ref`, `dkim[0].key_ref`.
        self.field = field


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

    def fixed_senders(self) -> dict[str, str]:
        """By channel, the sender that the settings put in the place of a message's."""
        found = {channel: self.kind.fixed_sender(self.settings, channel) for channel in self.kind.channels}
        return {channel: sender for channel, sender in found.items() if sender}

    def open(self, surroundings: AdapterContext) -> Adapter:
        """Its adapter, ready to send."""
        return self.kind.adapter(self.settings, surroundings)


async def open_adapter(
    name: str,
    settings: Mapping[str, object],
    secrets: SecretResolver,
    *,
    surroundings: AdapterContext,
) -> Adapter:
    """The adapter, ready to send; errors name the setting. It connects when there is something to send."""
    return (await read_account(name, settings, secrets)).open(surroundings)


async def read_account(
    name: str, settings: Mapping[str, object], secrets: SecretResolver, *, tenant_id: TenantId | None = None
) -> ReadAccount:
    """The account with all that its references lead to now; errors name the setting."""
    kind = kind_of(name)
    if kind is None:
        known = ", ".join(sorted(ADAPTERS))
        raise BadValueError("vendor", f"must be one of {known}, or begin with one of these and _")
    found = _trimmed(kind, await _resolve(kind, settings, secrets, tenant_id))
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
    reveal = _Revealing(secrets, tenant_id)
    found = await reveal.all_of(given, kind.verbatim)
    if ref is None:
        return found
    text = await reveal.secret(ref, "secret_ref")
    if text.lstrip().startswith("{"):
        try:
            more = msgspec.json.decode(text, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            raise BadValueError(
                "secret_ref", "leads to a text that begins with { and is no JSON object"
            ) from None
        return {**found, **await reveal.all_of(more, kind.verbatim)}
    *path, last = kind.main_credential.split(".")
    place = found
    for step in path:
        place = place.setdefault(step, {})
    place[last] = text
    return found


def _trimmed(kind: AdapterKind, found: dict[str, Any]) -> dict[str, Any]:
    """Without the line break that editors and secret stores leave behind a text: no header can hold one, and patterns let it pass."""
    for name in kind.credential_fields:
        value = found.get(name)
        if isinstance(value, str):
            found[name] = value.rstrip("\r\n")
        elif isinstance(value, dict):
            found[name] = {
                key: inner.rstrip("\r\n") if isinstance(inner, str) else inner for key, inner in value.items()
            }
    return found


@dataclass(slots=True)
class _Revealing:
    """Puts secrets in the place of references."""

    secrets: SecretResolver
    #: The tenant that they have to belong to; None for the platform.
    tenant_id: TenantId | None
    #: How many it has asked for.
    asked: int = 0

    async def all_of(self, settings: Mapping[str, object], verbatim: frozenset[str]) -> dict[str, Any]:
        """The settings with their secrets; in those that are `verbatim` nothing is a reference."""
        found = {name: value for name, value in settings.items() if name in verbatim}
        rest = {name: value for name, value in settings.items() if name not in verbatim}
        return {**found, **await self._within(rest, "", 0)}

    async def secret(self, reference: object, field: str) -> str:
        """What a reference leads to."""
        if not isinstance(reference, str):
            raise BadValueError(field, "must be a reference such as file://smtp/password")
        if self.asked > _MOST_REFERENCES:
            raise BadValueError(
                "secret_ref", f"must lead to settings with at most {_MOST_REFERENCES} references"
            )
        self.asked += 1
        try:
            return (await self.secrets.resolve(reference, tenant_id=self.tenant_id, field=field)).reveal()
        except SecretNotFoundError as error:
            raise LostReferenceError(field, str(error)) from None
        except NotConfiguredError as error:
            raise BadValueError(field, str(error).removeprefix(f"{field} ")) from None

    async def _within(self, settings: Mapping[Any, object], path: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, inner in settings.items():
            shown = printable(str(name))
            where = f"{path}.{shown}" if path else shown
            if isinstance(name, str) and name.endswith("_ref"):
                found[name.removesuffix("_ref")] = await self.secret(inner, where)
            else:
                found[str(name)] = await self._value(inner, where, depth + 1)
        return found

    async def _value(self, value: object, path: str, depth: int) -> Any:
        if depth > _DEEPEST:
            raise BadValueError(path, "is nested too deeply")
        if isinstance(value, list | tuple):
            return [await self._value(inner, f"{path}[{i}]", depth + 1) for i, inner in enumerate(value)]
        return await self._within(value, path, depth) if isinstance(value, Mapping) else value
