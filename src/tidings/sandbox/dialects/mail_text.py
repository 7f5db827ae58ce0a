"""A mail that a vendor was handed whole, as far as the page shows it."""

import email
from contextlib import suppress
from email.policy import default

from tidings.sandbox.dialects.dialect import SubmittedMessage


def asked_of_mail(data: bytes, *, to: tuple[str, ...]) -> SubmittedMessage:
    """Who wrote what to whom; `to` are those whom the request names."""
    mail = email.message_from_bytes(data, policy=default)
    texts: dict[str, str] = {}
    for kind in ("plain", "html"):
        part = mail.get_body((kind,))
        # An unknown charset, a part that is no text.
        with suppress(LookupError, ValueError):
            texts |= {kind: str(part.get_content())} if part is not None else {}
    sender = mail.get("From")
    addresses = getattr(sender, "addresses", ())
    return SubmittedMessage(
        channel="email",
        sender=str(addresses[0].addr_spec) if addresses else "",
        to=to,
        subject=str(mail["Subject"]) if "Subject" in mail else None,
        text=texts.get("plain"),
        html=texts.get("html"),
    )
