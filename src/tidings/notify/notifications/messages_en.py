"""The sentences of an explanation: what a gate, a vendor's answer and an end mean, to be read aloud."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final
from zoneinfo import ZoneInfo

from tidings.contracts.delivery import ANSWER_NEVER_LEARNED
from tidings.contracts.execution_history import AttemptRecord, ExecutionRecord, ReceiptRecord
from tidings.contracts.failures import is_ours, why
from tidings.notify.decide.model import Gate, TraceLine
from tidings.notify.decide.reasons import SENTENCES, GateReason
from tidings.notify.notifications.said_no import SaidNo
from tidings.notify.suppressions.model import Suppression, asked_by
from tidings.notify.suppressions.model import SuppressionReason as Held

#: The reason of an attempt whose answer got lost on the way.
NEVER_LEARNED: Final = ANSWER_NEVER_LEARNED

#: What it means that a gate let it through with nothing special to tell.
PASSED: Final[dict[str, str]] = {
    Gate.TENANT: "The tenant is active.",
    Gate.EXPIRY: "Its time was not over.",
    Gate.RECIPIENT: "The recipient is known.",
    Gate.CATEGORY: "The recipient may be written to about this category.",
    Gate.QUIET_HOURS: "It was not the recipient's quiet time.",
    Gate.DIGEST: "It is not gathered with others.",
    Gate.LIMITS: "The limits of the tenant and of the recipient had room.",
    Gate.STATE: "It was still wanted.",
    Gate.CHANNEL: "The channel is set up, and the recipient takes this category on it.",
    Gate.ADDRESS: "The recipient has an active address on this channel.",
    Gate.SUPPRESSION: "The address is not suppressed.",
    Gate.SENDER: "The tenant may appear as this sender.",
    Gate.CHANNEL_LIMIT: "The limits of the channel had room.",
}

#: Codes that no gate gives.
_OTHERS: Final[dict[str, str]] = {
    NEVER_LEARNED: "The answer was never learned: the message may have been sent or not.",
    "template_missing": "The template has no text for this channel.",
    "render_failed": "The message could not be rendered.",
    "variables_unreadable": "What was stored of the variables is damaged: it can't be decrypted.",
    "files_unreadable": "An attached file is gone, or it can't be decrypted.",
    "files_away": "The attached files can't be read just now; it waits until they can.",
    "no_channel": "There is no channel to reach the recipient on.",
    "no_route": "There is no channel that is set up and that the template has a published text for.",
    "not_in_time": "What was waited for did not come in time.",
    "cost_cap": "It would have cost more than is left of what the message may cost.",
    "circuit_open": "The vendor's circuit is open: it is left alone for a while.",
    "account_off": "The account with this vendor is switched off.",
    "no_account": "There is no account with this vendor.",
    "bad_message": "The address, a variable or the metadata is not as this vendor wants it, so it was not handed over.",
    "vendor_limit": "The vendor's account takes no more messages for now.",
    "notify_away": "No process of notify answered the router; it asks again in a few seconds.",
    "notification_locked": "The notification was being changed at that moment; it is tried again in a few seconds.",
    "address_refused": "The recipient's side had refused this address already.",
    "condition_priority": "The policy takes this step for other priorities only.",
    "condition_prefix": "The policy takes this step for other countries only.",
    "condition_hours": "The policy takes this step at other hours only.",
    "condition_reachable": "The recipient is not known to be reachable there.",
    "condition_online": "It depends on whether the recipient has their in-app inbox open, which was not so.",
    "condition_score": "This channel has reached the recipient too seldom.",
    "files_left_out": "The attached files were left out: this channel can't carry them.",
    # Why a message came back.
    "bounced": "The vendor does not say why.",
    "failed_temp": "The vendor said afterwards that it could not be delivered.",
    "failed_perm": "The vendor said afterwards that it will not arrive.",
    "rejected_by_provider": "The vendor said afterwards that it does not carry it.",
    "rejected_by_recipient": "The vendor said afterwards that the recipient's side does not take it.",
    "hard_bounce": "There is no such address.",
    "soft_bounce": "The address could not take it for now.",
    "complaint": "The recipient complained about it.",
    "invalid_address": "The address is not one that can be written to.",
}
#: Of one step of a ladder.
_NO_WAY: Final = "The channel is not set up, or the template has no published text for it."
#: Why an address is suppressed, as a part of a sentence.
_HELD: Final[dict[Held, str]] = {
    Held.HARD_BOUNCE: "a message to it came back for good",
    Held.SOFT_BOUNCE: "messages to it came back again and again",
    Held.COMPLAINT: "its owner complained",
    Held.INVALID_ADDRESS: "it is not one that can be written to",
    Held.OPT_OUT: "its owner wants no more messages",
    Held.MANUAL: "somebody of the tenant's own has suppressed it",
    Held.COMPLIANCE: "the law or a rule forbids it",
    Held.RATE_LIMIT: "too much was sent to it",
}
#: How the recipient said no.
_HOW: Final[dict[str, str]] = {
    "one_click": "one click",
    "unsubscribe_page": "on the unsubscribe page",
    "preference_page": "on the preference page",
    "confirmation_page": "on the confirmation page",
    "api": "told over the API",
    "import": "told by an import",
}
_RENDERING = "render_"

#: Status of an attempt → what came of it; `{}` is the vendor.
_ANSWERS: Final[dict[str, str]] = {
    "accepted": "{} accepted it",
    "sent": "{} sent it on",
    "delivered": "{} says that it arrived",
    "delivered_read": "{} says that it was read",
    "failed_temp": "{} could not take it then",
    "failed_perm": "{} can't take it, now or later",
    "rejected_by_provider": "{} refused it",
    "rejected_by_recipient": "the recipient's side refused it",
    "timed_out": "{} did not answer in time",
    "cancelled": "it was taken back from {}",
    # As notify's own log calls them.
    "rejected_retryable": "{} could not take it then",
    "rejected_terminal": "{} refused it",
    "timeout": "{} did not answer in time",
    "failed": "{} failed",
    "bounced": "{} says that it bounced",
    "complaint": "the recipient complained about it to {}",
    "opened": "it was opened",
    "clicked": "a link in it was followed",
}
#: The same of what a vendor tells later, where it means something else than an answer does.
_HEARD: Final[dict[str, str]] = {
    "failed_temp": "{} could not deliver it this time",
    "failed_perm": "{} says that it will not arrive",
    "unknown": "{} said something that has no meaning yet",
}
#: Receipts that have no failure to explain.
_GOOD: Final = frozenset({"accepted", "sent", "delivered", "delivered_read", "opened", "clicked"})
_WORD: Final = re.compile(r"[a-z][a-z0-9_]*")
_RESULTS: Final[dict[str, str]] = {
    "FAILED": "Every way to reach the recipient was tried, and none worked.",
    "REFUSED_NO_CHANNEL": "There was no channel to reach the recipient on.",
    "REFUSED_COST_CAP": "It would have cost more than it may.",
    "REFUSED_CONSENT": "The recipient does not want it.",
    "REFUSED_SENDER_UNAUTHORIZED": "The tenant may not appear as this sender.",
}
EVIDENCE: Final[dict[str, str]] = {
    "accepted": "accepted by the vendor; no receipt expected",
    "sent": "the vendor sent it on",
    "delivered": "the vendor says that it arrived",
    "read": "the vendor says that it was read",
}


def said(at: datetime, zone: str | None = None) -> str:
    """A moment as it is read aloud, with the time of a zone beside it."""
    there = at.astimezone(ZoneInfo(zone)) if zone is not None else None
    if there is None or there.utcoffset() == timedelta():
        return f"{at.day} {at:%B %Y, %H:%M:%S} UTC"
    day = "" if there.date() == at.date() else f"{there.day} {there:%B}, "
    return f"{at.day} {at:%B %Y, %H:%M:%S} UTC ({day}{there:%H:%M} in {zone})"


def lasted(span: timedelta) -> str:
    """How long something took."""
    seconds = span.total_seconds()
    if seconds < 10:
        return f"{max(seconds, 0):.1f} seconds"
    if seconds < 120:
        return f"{seconds:.0f} seconds"
    if seconds < 7200:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.0f} hours" if seconds < 172_800 else f"{seconds / 86_400:.0f} days"


def reason_sentence(
    reason: str | None, *, meaning: str | None = None, vendor: str | None = None
) -> str | None:
    """What a code means; one that this release does not know is shown as it is, with the status map's word for it."""
    if reason is None:
        return None
    known = SENTENCES.get(reason) or _OTHERS.get(reason)  # type: ignore[call-overload]
    if known is not None:
        return str(known)
    if reason.startswith(_RENDERING):
        return f"The message could not be rendered ({reason.removeprefix(_RENDERING)})."
    words = why(reason, meaning, vendor=vendor)
    if words is not None:
        return f"{words[0].upper()}{words[1:]} ({_codes(reason, meaning)})."
    if meaning in _OTHERS:
        return f"{_OTHERS[meaning].removesuffix('.')} ({reason})."
    return f"The reason given was {_codes(reason, meaning)}."


def failure_words(attempt: AttemptRecord) -> str:
    """Why a call came to nothing, as a part of a sentence, with its code."""
    codes = _codes(attempt.reason, attempt.meaning)
    words = why(attempt.reason, attempt.meaning, vendor=attempt.vendor)
    # Our own words of then say more than the code; a vendor's are shown where its code is not in the status map.
    if attempt.error and (words is None or is_ours(attempt.reason)):
        words = attempt.error.removeprefix(f"{attempt.meaning}: ").rstrip(".")
    return " ".join(part for part in (words, f"({codes})" if codes else "") if part)


def _codes(*words: str | None) -> str:
    return ", ".join(dict.fromkeys(word for word in words if word))


def held_sentence(held: Suppression) -> str:
    """Why an address is suppressed, and since when; no address, and only notes that we wrote ourselves."""
    asked = asked_by(held.notes)
    told = "; ".join(
        word
        for word in (
            held.reason.value,
            asked,
            f"after {held.source_notification_id}" if held.source_notification_id else None,
            f"until {said(held.expires_at)}" if held.expires_at else None,
        )
        if word
    )
    freed = f" It was released on {said(held.released_at)}." if held.released_at is not None else ""
    return f"The address is suppressed since {said(held.since)}: {_HELD[held.reason]} ({told}).{freed}"


_GUARDIANS: Final[dict[str, str]] = {
    GateReason.GUARDIAN_INSTEAD: "The recipient's guardian {} is written to instead.",
    GateReason.GUARDIAN_COPY: "The recipient's guardian {} gets one too.",
}


def no_sentence(no: SaidNo) -> str:
    """When and how the recipient said no; no name and no address."""
    who = "The owner of this address" if no.by_address else "The recipient"
    how = _HOW.get(no.source, no.source)
    if no.consent:
        return f"{who} withdrew their consent on {said(no.at)} ({how})."
    what = (
        f"{no.category} messages" if no.category is not None else "everything that can be unsubscribed from"
    )
    where = f" by {no.channel}" if no.channel is not None else ""
    held = " It holds for everybody with that address." if no.by_address else ""
    return f"{who} unsubscribed from {what}{where} on {said(no.at)} ({how}).{held}"


def line_sentence(line: TraceLine, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """What a gate said; `names` are those of guardians that the reader may see, by their ids."""
    if line.reason is not None and line.reason.startswith(_RENDERING) and line.by is not None:
        return f"{(reason_sentence(line.reason) or '').removesuffix('.')}: {_place_of_failure(line.by)}."
    if line.by is not None and line.reason in _GUARDIANS:
        name = names.get(line.by)
        return _GUARDIANS[line.reason].format(f"{name} ({line.by})" if name else line.by)
    if line.by is not None and line.gate == Gate.DIGEST:
        return f"{(reason_sentence(line.reason) or '').removesuffix('.')} ({line.by})."
    if line.reason is not None:
        return reason_sentence(line.reason) or ""
    if line.verdict == "pass":
        return PASSED.get(line.gate, "It was passed.")
    return "It was stopped here." if line.verdict == "stop" else "It was put off."


def _place_of_failure(by: str) -> str:
    """`file:line:expression`, or a locale, as a part of a sentence."""
    place, found, expression = by.rpartition(":")
    return f"{{{{{expression}}}}} in {place}" if found else f"the text in {by}"


def attempt_sentence(attempt: AttemptRecord) -> str:
    """What came of one attempt."""
    how = f"Step {attempt.step}, {attempt.channel}"
    if attempt.status == "step_skipped":
        why_not = _NO_WAY if attempt.reason == "no_route" else reason_sentence(attempt.reason)
        return f"{how}: skipped. {why_not or ''}".rstrip()
    vendor = attempt.vendor or "the vendor"
    if attempt.reason == NEVER_LEARNED:
        return f"{how}: handed to {vendor}, whose answer was never learned. The message may have been sent or not."
    if attempt.ended_at is None:
        return f"{how}: handed to {vendor}, whose answer is awaited."
    answer = answer_words(attempt.status, vendor)
    failure = failure_words(attempt) if attempt.status != "accepted" else ""
    because = f"{' ' if failure.startswith('(') else ': '}{failure}" if failure else ""
    cost = f", for {money(attempt.cost_micros, attempt.cost_currency)}" if attempt.cost_micros else ""
    chosen = f" It was chosen: {attempt.why}." if attempt.why else ""
    return f"{how}: {answer}{because}{cost}.{chosen}"


def receipt_sentence(attempt: AttemptRecord, receipt: ReceiptRecord) -> str:
    """What was heard of an attempt afterwards."""
    how = f"Step {attempt.step}, {attempt.channel}"
    if receipt.status == "timed_out":
        return f"{how}: no receipt came in time, and the step was given up."
    if receipt.status == "cancelled":
        return f"{how}: called off, because it was delivered elsewhere."
    codes = _codes(receipt.code, our_word_of(receipt))
    words = why(receipt.code or receipt.reason, our_word_of(receipt), vendor=attempt.vendor)
    late = " The step had been given up, or all was over." if receipt.late else ""
    vendor = attempt.vendor or "the vendor"
    heard = _HEARD.get(receipt.status)
    said = heard.format(vendor) if heard else answer_words(receipt.status, vendor)
    because = f": {words}" if words and receipt.status not in _GOOD else ""
    return f"{how}: {said}{because}{f' ({codes})' if codes else ''}.{late}"


def our_word_of(receipt: ReceiptRecord) -> str | None:
    """What a receipt's code means; only a word of ours: a vendor's own are not for this page."""
    return receipt.reason if receipt.reason and _WORD.fullmatch(receipt.reason) else None


def money(micros: int, currency: str | None) -> str:
    """An amount as it is read aloud."""
    amount = f"{micros / 1_000_000:.6f}".rstrip("0")
    whole, _, part = amount.partition(".")
    return f"{whole}.{part:0<2} {currency or ''}".rstrip()


def answer_words(status: str, vendor: str) -> str:
    """What a vendor's answer means, as a part of a sentence."""
    return _ANSWERS.get(status, f"{{}} answered {status}").format(vendor)


def result_sentence(execution: ExecutionRecord) -> str:
    """How a ladder ended."""
    if execution.result == "DELIVERED":
        by = f" by {execution.final_channel}" if execution.final_channel else ""
        on = f": {EVIDENCE[execution.evidence]}" if execution.evidence else ""
        return f"Delivered{by}{on}."
    return _RESULTS.get(execution.result or "", "It is not over yet.")
