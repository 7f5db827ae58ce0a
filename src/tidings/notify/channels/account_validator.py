"""Refuses accounts that their adapters can't read: before anything is written, and not when the first message is sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tidings.contracts.channel_configs import VendorProbe, adapter_of
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.kernel.secrets import SecretStoreError
from tidings.notify.channels.configure import ChannelSpec
from tidings.notify.channels.errors import SecretsUnavailableError
from tidings.notify.channels.model import vendors_wrong

#: How the router names the reference among an account's fields.
_REFERENCE: Final = "secret_ref"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Where an account's settings and credentials are."""

    #: As the caller named it: `accounts.smtp.secret_ref`.
    field: str
    vendor: str
    secret_ref: str


async def refuse_unreadable(desk: VendorProbe, tenant_id: TenantId, references: Sequence[Reference]) -> None:
    """Refuse references that are not this tenant's own, that lead nowhere, or to what the adapter can't read."""
    if wrong := await _wrong(desk, tenant_id, references):
        raise InvalidError(wrong)


async def refuse_unreadable_spec(
    desk: VendorProbe, tenant_id: TenantId, spec: ChannelSpec, *, adapters: Mapping[str, frozenset[str]]
) -> None:
    """The same for the accounts of a channel, with what is wrong about its vendors. Before the transaction: it reads files."""
    references = [
        Reference(field=f"accounts.{vendor}.secret_ref", vendor=vendor, secret_ref=account.secret_ref)
        for vendor, account in spec.accounts.items()
        # The accounts of an adapter that there is not can't be read; the vendor is refused for that.
        if adapter_of(vendor, adapters) is not None
    ]
    if wrong := await _wrong(desk, tenant_id, references):
        raise InvalidError(
            [*vendors_wrong(spec.channel, spec.vendor, spec.fallback_vendor, adapters), *wrong]
        )


async def _wrong(desk: VendorProbe, tenant_id: TenantId, references: Sequence[Reference]) -> list[FieldError]:
    wrong: list[FieldError] = []
    for one in references:
        try:
            found = await desk.wrong_with(tenant_id, one.vendor, one.secret_ref)
        except SecretStoreError as error:
            raise SecretsUnavailableError(str(error)) from None
        wrong += [FieldError(_named(one.field, each.field), each.remedy) for each in found]
    return wrong


def _named(reference: str, setting: str) -> str:
    """A setting in what a reference leads to: `accounts.smtp.secret_ref.host`."""
    return reference if setting in {_REFERENCE, ""} else f"{reference}.{setting}"
