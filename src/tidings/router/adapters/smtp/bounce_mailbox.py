"""The mailbox that an SMTP account's bounces lie in: where it is, and whether it opens."""

from typing import TYPE_CHECKING

from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater
from tidings.kernel.ca_bundle import trusting
from tidings.kernel.egress import Guard
from tidings.kernel.errors import BadValueError
from tidings.router.adapters.mail.imap_mailbox import (
    MailboxAddress,
    MailboxError,
    open_mailbox,
    read_mailbox_url,
)

if TYPE_CHECKING:
    from tidings.router.adapters.smtp.adapter import SmtpSettings


def mailbox_of(settings: "SmtpSettings", guard: Guard) -> MailboxAddress | None:
    """Where the account's bounces lie; None where they come by themselves."""
    if settings.bounce_imap_url is None:
        return None
    if settings.bounce_address is None and settings.return_path_domain is None:
        raise BadValueError(
            "bounce_imap_url",
            "needs bounce_address or return_path_domain: a bounce is known by the message's return path",
        )
    return read_mailbox_url(
        settings.bounce_imap_url,
        settings.bounce_imap_password,
        context=lambda: trusting(settings.ca_file, settings.ca_pem),
        in_the_clear=settings.auth_without_tls,
        guard=guard,
    )


async def check_mailbox(place: MailboxAddress) -> Outcome:
    """Open it, and leave it as it is."""
    try:
        async with open_mailbox(place, read_only=True):
            return Accepted()
    except MailboxError as error:
        reason = f"the mailbox of bounces: {error}"
        if error.code in {"auth", "folder"}:
            return Refused(reason=reason, code="bounce_mailbox")
        return TryLater(reason=reason, code="bounce_mailbox")
