"""Operators as recipients: of the tenant that they work for, under an identity of their own."""

from tidings.notify.recipients.model import IdentityType
from tidings.notify.recipients.recipient_input import (
    AddressInput,
    IdentityInput,
    RecipientInput,
    RecipientSpec,
    spec_of,
)


def recipient_of_operator(
    operator_id: str, *, name: str, email: str, language: str, phone: str | None = None
) -> RecipientSpec:
    """Made, or brought up to date, with the order."""
    addresses = [AddressInput(channel="email", address=email)]
    if phone is not None:
        addresses.append(AddressInput(channel="sms", address=phone))
    return spec_of(
        RecipientInput(
            identity=IdentityInput(type=IdentityType.USER, id=f"operator:{operator_id}"),
            display_name=name,
            locale=language,
            addresses=addresses,
        )
    )
