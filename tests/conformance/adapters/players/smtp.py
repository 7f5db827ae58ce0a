"""Mail servers: replies as Postfix, Google and Exchange gave them."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

from tests.conformance.adapters.player import Example, unreachable
from tests.support import played_smtp as smtp
from tests.support.vendors import MESSAGE, smtp_settings

# Addresses in them are the message's own, as real servers quote them.
_REPLIES: Mapping[str, Mapping[str, bytes | list[bytes]]] = {
    "accepted": {},
    # Postfix 3.7: it quotes the address.
    "refused": {
        "RCPT": b"550 5.1.1 <laila.unmistakable@example.test>: Recipient address rejected: User unknown\r\n",
        "DATA": b"554 5.5.1 Error: no valid recipients\r\n",
    },
    # Google, on several lines.
    "throttled": {
        "MAIL": b"421-4.7.0 Our system has detected an unusual rate of mail.\r\n421 4.7.0 Try again later.\r\n"
        + smtp.CLOSE
    },
    # Exchange Online.
    "unavailable": {".": b"451 4.7.500 Server busy. Please try again later from [192.0.2.1].\r\n"},
    "hangs": {".": smtp.HANG},
    "garbage": {".": b"\x00\xffHTTP/1.1 400 Bad Request\r\n\r\n"},
    "closed": {".": smtp.CLOSE},
    "closed half-way": {".": b"250 2.0" + smtp.CLOSE},
}


class _Smtp:
    name = "smtp"
    message = MESSAGE
    bad = replace(MESSAGE, to="nobody\r\nRCPT TO:<everybody@example.test>")
    accepted_id = "4XyZabCdEf"
    refused_code = "5.1.1"
    retry_after: timedelta | None = None
    examples: Sequence[Example] = ()

    @asynccontextmanager
    async def play(self, case: str) -> AsyncIterator[dict[str, Any]]:
        """Settings of an account whose server does that."""
        patience = {"timeout_seconds": 0.3} if case == "hangs" else {}
        if case == "unreachable":
            async with unreachable() as port:
                yield smtp_settings(port)
            return
        parts = {
            name: list(part) if isinstance(part, list) else part for name, part in _REPLIES[case].items()
        }
        async with smtp.played_smtp(parts) as played:
            yield smtp_settings(played.port, **patience)

    @asynccontextmanager
    async def take_turns(self, *turns: str) -> AsyncIterator[tuple[dict[str, Any], Callable[[], int]]]:
        """A server that does these one after the other."""
        dots = {"accepted": smtp.USUAL["."], "slow": smtp.SLOW + smtp.USUAL["."], "hangs": smtp.HANG}
        async with smtp.played_smtp({".": [dots[turn] for turn in turns]}) as played:
            yield (
                smtp_settings(played.port, connections=1, timeout_seconds=60.0),
                lambda: len(played.messages),
            )


PLAYER = _Smtp()
