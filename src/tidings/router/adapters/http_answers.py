"""Their status → our outcome, for vendors that are described by settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Literal, TypeAlias

import msgspec

from tidings.contracts.adapters import OUR_CODES
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.clock import Clock
from tidings.router.adapters.reasons import clean

Verdict: TypeAlias = Literal["accepted", "refused", "try_later", "unlearned"]

#: The usual meanings; an account's settings come first.
USUAL: Mapping[str, Verdict] = {
    "2xx": "accepted",
    # A redirect that was not followed: the vendor has moved, and the settings have to.
    "3xx": "try_later",
    # Our own credentials: nothing is wrong with the message.
    "401": "try_later",
    "407": "try_later",
    "408": "try_later",
    "423": "try_later",
    "425": "try_later",
    "429": "try_later",
    "4xx": "refused",
    "5xx": "try_later",
    # A gateway that does not know what became of the request.
    "502": "unlearned",
    "504": "unlearned",
}
_LONGEST_WAIT = timedelta(days=1)
_MOST_ID_CHARACTERS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """What came back."""

    status: int
    retry_after: str | None
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How one vendor's answers are read."""

    clock: Clock
    statuses: Mapping[str, Verdict]
    message_id_path: str | None
    error_code_path: str | None
    error_reason_path: str | None

    def outcome(self, answer: HttpAnswer, message: OutboundMessage) -> Outcome:
        """What the answer means."""
        status = str(answer.status)
        verdict = self._verdict(status)
        said = _decoded(answer.content)
        if verdict == "accepted":
            if self.message_id_path is None:
                return Accepted()
            found = _scalar(_at(said, self.message_id_path))
            # A success that does not look like the vendor's own may be a stranger's: a proxy, a login page.
            if found is None:
                return Unlearned(
                    reason="the vendor's answer was a success without the message id it should have"
                )
            return Accepted(provider_message_id=found[:_MOST_ID_CHARACTERS])
        code = clean(_scalar(_at(said, self.error_code_path)) or status, message) or status
        if code in OUR_CODES:
            # Said by the vendor, it means something else.
            code = status
        words = _scalar(_at(said, self.error_reason_path))
        reason = clean(words, message) if words else f"the vendor answered {status}"
        if verdict == "refused":
            return Refused(reason=reason, code=code)
        if verdict == "try_later":
            return TryLater(reason=reason, code=code, after=self._after(answer.retry_after))
        return Unlearned(reason=reason)

    def _verdict(self, status: str) -> Verdict:
        wide = f"{status[0]}xx"
        for table in (self.statuses, USUAL):
            if status in table:
                return table[status]
            if wide in table and (table is not self.statuses or status not in USUAL):
                return table[wide]
        return "unlearned"

    def _after(self, text: str | None) -> timedelta | None:
        """Retry-After: seconds, or a date."""
        if text is None:
            return None
        if text.strip().isascii() and text.strip().isdecimal():
            return min(timedelta(seconds=min(int(text.strip()[:9]), 10**8)), _LONGEST_WAIT)
        try:
            at = parsedate_to_datetime(text)
        except (ValueError, TypeError):
            return None
        wait = (at if at.tzinfo else at.replace(tzinfo=UTC)) - self.clock.now()
        return min(max(wait, timedelta(0)), _LONGEST_WAIT)


def checked(status: int) -> Outcome:
    """What the answer to a mere question about our credentials means."""
    if 200 <= status < 300:
        return Accepted()
    if status in {401, 403}:
        return Refused(reason="the vendor does not accept the credentials", code=str(status))
    return TryLater(reason=f"the vendor answered {status}", code=str(status))


def _decoded(content: bytes) -> Any:
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _at(value: Any, path: str | None) -> Any:
    if path is None:
        return None
    for step in path.split("."):
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _scalar(value: Any) -> str | None:
    if isinstance(value, str):
        return value or None
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
