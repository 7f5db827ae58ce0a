"""Where a mail that can't be delivered comes back to: an address of its own for each attempt (VERP)."""

from collections.abc import Callable
from typing import Final, Protocol

from tidings.kernel.errors import BadValueError
from tidings.router.adapters.mail.headers import MailAddress, ascii_domain

#: Of a local part (RFC 5321, 4.5.3.1.1).
_MOST_LOCAL: Final = 64
#: Characters of a token.
TOKEN_LENGTH: Final = 48

#: The token of an attempt through this account.
WriteToken = Callable[[str], str]


class ReturnSettings(Protocol):
    """What an account says about its bounces."""

    @property
    def envelope_sender(self) -> str | None: ...
    @property
    def bounce_address(self) -> str | None: ...
    @property
    def return_path_domain(self) -> str | None: ...


class ReturnPath:
    """The return path of an account's messages."""

    def __init__(self, settings: ReturnSettings, write_token: WriteToken | None) -> None:
        """Without `write_token`, and for a message that is no attempt, all messages share one address."""
        named = [
            name
            for name in ("bounce_address", "return_path_domain", "envelope_sender")
            if getattr(settings, name) is not None
        ]
        if len(named) > 1:
            raise BadValueError(
                named[0], f"can't stand beside {named[1]}: each says where bounces go; keep one"
            )
        self._write_token = write_token
        self._before, self._after, self._shared = "", "", None
        if settings.envelope_sender is not None:
            self._write_token = None
            self._shared = MailAddress(settings.envelope_sender, "envelope_sender").spec
        elif settings.bounce_address is not None:
            address = MailAddress(settings.bounce_address, "bounce_address")
            most = _MOST_LOCAL - TOKEN_LENGTH - 1
            if len(address.local) > most or address.needs_utf8 or "+" in address.local:
                raise BadValueError(
                    "bounce_address",
                    f"must have at most {most} ASCII characters before the @, and no plus: a plus and a token of "
                    f"{TOKEN_LENGTH} characters follow them",
                )
            self._before, self._after = f"{address.local}+", f"@{address.domain}"
            self._shared = address.spec
        elif settings.return_path_domain is not None:
            domain = ascii_domain(settings.return_path_domain)
            if domain is None:
                raise BadValueError("return_path_domain", "must be a domain such as bounces.example.org")
            self._after = f"@{domain}"
        else:
            self._write_token = None

    def of(self, attempt_id: str | None) -> str | None:
        """The address for this attempt; None where bounces go to the sender itself."""
        if attempt_id is None or self._write_token is None:
            return self._shared
        return f"{self._before}{self._write_token(attempt_id)}{self._after}"
