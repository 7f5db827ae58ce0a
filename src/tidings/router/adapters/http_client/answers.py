"""Their status → our outcome, for vendors that are asked over HTTP."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from tidings.contracts.adapters import OUR_CODES
from tidings.contracts.callback_forms import Canonical
from tidings.contracts.failures import NOT_ALLOWED_THERE
from tidings.contracts.messages import (
    Accepted,
    OutboundMessage,
    Outcome,
    RawAnswer,
    Refused,
    TryLater,
    Unlearned,
)
from tidings.kernel.clock import Clock
from tidings.kernel.http_client.answer import CallFailure, HttpAnswer, failure_of, wait_of
from tidings.router.adapters.kind import StatusSeed, seeds_of
from tidings.router.adapters.redaction import clean, clean_code

Verdict: TypeAlias = Literal["accepted", "refused", "try_later", "unlearned"]

#: What a vendor's code means for the message, how that is kept, and the reason in a word of ours.
CodeMeaning: TypeAlias = tuple[Verdict, Canonical, str]

#: The usual meanings; an account's settings come first.
USUAL: Mapping[str, Verdict] = {
    "2xx": "accepted",
    # A redirect that was not followed: the vendor has moved, and the settings have to.
    "3xx": "try_later",
    # Our own credentials, our own bill: nothing is wrong with the message.
    "401": "try_later",
    "402": "try_later",
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
    # The same, in the numbers of those that stand before many APIs.
    "520": "unlearned",
    "524": "unlearned",
}
#: Said by a proxy before the vendor, and true all the same: it is too large.
_TOO_LARGE = 413
_MOST_ID_CHARACTERS = 200


def with_answer(outcome: Outcome, answer: HttpAnswer) -> Outcome:
    """The outcome with what the vendor answered, word for word."""
    return replace(outcome, answer=RawAnswer(content=answer.content, http_status=answer.status))


def answered(
    verdict: Verdict,
    answer: HttpAnswer,
    message: OutboundMessage,
    *,
    clock: Clock,
    message_id: str | None = None,
    code: str | None = None,
    words: str | None = None,
    by_recipient: bool = False,
) -> Outcome:
    """The outcome, once it is known what the answer means; the vendor's words without anything personal.

    `code` and `words` are the vendor's for what went wrong; its status stands in for them. `by_recipient`: a refusal is the person's
    and not the vendor's.
    """
    status = str(answer.status)
    if verdict == "accepted":
        return Accepted(provider_message_id=message_id[:_MOST_ID_CHARACTERS] if message_id else None)
    code = clean_code(code or status, message) or status
    if code in OUR_CODES:
        # Said by the vendor, it means something else.
        code = status
    reason = clean(words, message) if words else f"the vendor answered {status}"
    if verdict == "refused":
        return Refused(reason=reason, code=code, status="rejected_by_recipient" if by_recipient else None)
    if verdict == "try_later":
        return TryLater(reason=reason, code=code, after=wait_of(answer.retry_after, clock))
    return Unlearned(reason=reason)


def verdict_of(status: int, statuses: Mapping[str, Verdict] | None = None) -> Verdict:
    """What a status means, by this table and by the usual one."""
    text, wide = str(status), f"{str(status)[0]}xx"
    own = statuses or {}
    for table in (own, USUAL):
        if text in table:
            return table[text]
        if wide in table and (table is not own or text not in USUAL):
            return table[wide]
    return "unlearned"


def verdict_by(codes: Mapping[str, CodeMeaning], code: str | None, otherwise: Verdict) -> Verdict:
    """What the code means for the message; `otherwise` where there is none, or it is not known."""
    return codes[code][0] if code is not None and code in codes else otherwise


def code_seeds(codes: Mapping[str, CodeMeaning] | Mapping[int, CodeMeaning]) -> tuple[StatusSeed, ...]:
    """The same table as the status map begins with it."""
    return seeds_of((str(code), canonical, reason) for code, (_, canonical, reason) in codes.items())


def believed(verdict: Verdict, answer: HttpAnswer, *, theirs: bool) -> Verdict:
    """The verdict, but that only the vendor can refuse a message: a page that is not in its own words is a proxy's, or that of an
    address which leads nowhere. Then nothing is wrong with the message.
    """
    strange = verdict == "refused" and not theirs and answer.status != _TOO_LARGE
    return "try_later" if strange else verdict


#: Where an answer was a success and has no id though it should have one: a stranger's, a proxy's, a login page.
NO_MESSAGE_ID = Unlearned(reason="the vendor's answer was a success without the message id it should have")


def checked(status: int) -> Outcome:
    """What the answer to a mere question about our credentials means."""
    if 200 <= status < 300:
        return Accepted()
    if status in {401, 403}:
        return Refused(reason="the vendor does not accept the credentials", code=str(status))
    return TryLater(reason=f"the vendor answered {status}", code=str(status))


def at(value: Any, path: str | None) -> Any:
    """What stands under a path such as `messages.0.id`; None where there is nothing."""
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


def text_at(value: Any, path: str | None) -> str | None:
    """The text, or the number as text, that stands under a path; None where there is neither."""
    return scalar(at(value, path))


def scalar(value: Any) -> str | None:
    """A text or a number, as text."""
    if isinstance(value, str):
        return value or None
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


_FAILURES: Mapping[CallFailure, Outcome] = {
    "address": TryLater(reason=NOT_ALLOWED_THERE, code="address"),
    "certificate": TryLater(reason="the vendor's certificate is not one that we trust", code="tls"),
    "tls": TryLater(reason="TLS could not be agreed on", code="tls"),
    "connection": TryLater(reason="the vendor can't be reached", code="connection"),
    "url": Refused(reason="url is not one that can be asked", code="bad_message"),
    "timeout": Unlearned(reason="the vendor did not answer in time"),
    "disconnected": Unlearned(reason="the vendor closed the connection without an answer"),
    "broken_off": Unlearned(reason="the vendor's answer broke off"),
    "no_http": Unlearned(reason="the vendor said something that is no HTTP answer"),
    "unknown": Unlearned(reason="the answer was never learned"),
}


def outcome_of_failure(error: Exception) -> Outcome:
    """What is certain after a failure; the exception's own words are not kept, they name hosts and more."""
    return outcome_of(failure_of(error))


def outcome_of(failure: CallFailure) -> Outcome:
    """The same, where it is known already what has failed."""
    return _FAILURES[failure]
