"""When a call is worth repeating, and after how long; pure, so that both clients do the same.

A repeat carries the same Idempotency-Key: the server answers what it answered, or would have answered, the first time.
A POST that takes no key and does more than read is not repeated where it may have been carried out.
"""

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from tidings_client.errors import ClientError, NotReachedError, ProblemError, StrangeAnswerError

#: Answers of a server, or of something before it, that will change by themselves.
_PASSING = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often and how long to try again."""

    #: Repeats at most, after the first try.
    most: int = 4
    #: Seconds of the first pause; each further one is twice as long, and they are all shortened by chance.
    first_pause: float = 0.1
    #: A pause is never longer; a server that wants a longer one gets its answer raised instead.
    longest_pause: float = 10.0

    def pause(self, failed: ClientError, tried: int, *, repeatable: bool = True) -> float | None:
        """Seconds until the next try, after `tried` of them; None: give up.

        A call that is not `repeatable` is tried again only where the server has certainly not carried it out.
        """
        if tried > self.most or not (_worth_repeating(failed) if repeatable else _not_carried_out(failed)):
            return None
        asked = failed.retry_after if isinstance(failed, ProblemError) else None
        if asked is not None:
            return asked if asked <= self.longest_pause else None
        longest = min(self.first_pause * 2.0 ** (tried - 1), self.longest_pause)
        return longest * random.uniform(0.5, 1.0)  # noqa: S311  # spreads callers, hides nothing


#: For those who repeat by themselves.
NEVER = Retries(most=0)


def _worth_repeating(failed: ClientError) -> bool:
    if isinstance(failed, NotReachedError):
        return True
    if isinstance(failed, StrangeAnswerError):
        return failed.status in _PASSING
    if not isinstance(failed, ProblemError):
        return False
    # The first request with this key is still under way: its answer is a moment away.
    return failed.status in _PASSING or failed.code == "idempotency_in_progress"


def _not_carried_out(failed: ClientError) -> bool:
    if isinstance(failed, NotReachedError):
        return not failed.sent
    return isinstance(failed, ProblemError) and failed.status == 429


def seconds_of(header: str | None) -> float | None:
    """What Retry-After says, in seconds from now; None where it says nothing that can be read."""
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdecimal():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())
