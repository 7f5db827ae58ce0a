"""What a person at the support desk can do next about a notification: decided from its explanation alone."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

StepKey = Literal[
    "release_suppression",
    "suppression_released",
    "suppressed_by_platform",
    "respect_no",
    "ask_consent",
    "guardian",
    "fix_address",
    "add_address",
    "set_up_channel",
    "fix_template",
    "fix_sender",
    "vendor_trouble",
    "raise_cap",
    "give_more_time",
    "digest",
    "send_now",
    "wait",
    "watch",
    "ask_to_look",
    "came_twice",
    "resend",
    "cancel",
]

#: Why it stopped → what helps.
_BY_REASON: Final[Mapping[str, StepKey]] = {
    **dict.fromkeys(("suppressed_by_platform", "suppressed_by_domain"), "suppressed_by_platform"),
    **dict.fromkeys(
        (
            "unsubscribed_from_all",
            "category_declined",
            "channel_declined",
            "off_by_default",
            "address_unsubscribed",
        ),
        "respect_no",
    ),
    "consent_missing": "ask_consent",
    **dict.fromkeys(("no_address", "address_gone", "no_channel"), "add_address"),
    **dict.fromkeys(("channel_not_set_up", "channel_disabled", "no_route"), "set_up_channel"),
    **dict.fromkeys(("template_missing", "render_failed"), "fix_template"),
    "sender_unauthorised": "fix_sender",
    "cost_cap": "raise_cap",
    **dict.fromkeys(("expired", "expires_before_quiet_ends", "expires_before_limit_frees"), "give_more_time"),
    **dict.fromkeys(
        ("circuit_open", "account_off", "no_account", "vendor_limit", "not_in_time", "late"), "vendor_trouble"
    ),
}
#: What a vendor's code means → what helps; what is not here is the vendor's trouble.
_BY_MEANING: Final[Mapping[str, StepKey]] = {
    **dict.fromkeys(
        (
            "hard_bounce",
            "invalid_address",
            "undeliverable",
            "unreachable",
            "not_on_channel",
            "landline",
            "no_route",
            "recipient_unsupported",
            "unsuitable_device",
            "unsupported_message_type",
        ),
        "fix_address",
    ),
    **dict.fromkeys(("opted_out", "complaint", "unsubscribed", "bot_blocked"), "respect_no"),
    **dict.fromkeys(
        (
            "template_mismatch",
            "template_needed",
            "template_paused",
            "template_unknown",
            "content_refused",
            "content_too_long",
            "content_too_large",
            "message_too_large",
        ),
        "fix_template",
    ),
}
_OVER: Final = frozenset(
    {"delivered", "failed", "bounced", "suppressed", "expired", "cancelled", "superseded"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """One thing to do, or to know; its text in the catalogue is `notifications.next.<key>`."""

    key: StepKey
    #: The id of what it is about.
    subject: str = ""
    #: A code, such as the reason of a suppression.
    code: str = ""
    #: Until when it waits.
    until: str | None = None


def next_steps(told: Mapping[str, Any], scopes: Collection[str]) -> list[NextStep]:
    """What helps, the most telling first; what the caller may not do is left out where it is nothing but a button."""
    found: list[NextStep] = []
    for step in _steps(told):
        if step.key in ("resend", "cancel", "send_now") and "notifications:write" not in scopes:
            continue
        if all(known.key != step.key for known in found):
            found.append(step)
    return found


def _steps(told: Mapping[str, Any]) -> Iterator[NextStep]:
    one = told["notification"]
    status, reason = one["status"], one["reason"]
    stops = [line for line in told["decision"] if line["verdict"] == "stop"]
    yield from _held(stops)
    if status in ("failed", "suppressed", "bounced", "expired"):
        reasons = [reason, *(line["reason"] for line in stops)]
        yield from (NextStep(key=_BY_REASON[code], code=code) for code in reasons if code in _BY_REASON)
        if (reason or "").startswith("render_"):
            yield NextStep(key="fix_template")
        yield from _vendors(told, status)
    yield from _guardians(told)
    if told["possibly_repeated"]:
        yield NextStep(key="came_twice")
    if status == "superseded" and (told["digest"] or {}).get("digest_notification_id"):
        yield NextStep(key="digest", subject=told["digest"]["digest_notification_id"])
    if status == "scheduled":
        until = (told["next"] or {}).get("at") or one["scheduled_for"]
        yield NextStep(key="wait", until=until)
        yield NextStep(key="send_now")
    if status in ("scheduled", "queued"):
        yield NextStep(key="cancel")
    if status in ("queued", "dispatched"):
        yield NextStep(key="watch", until=one["expires_at"])
    if status == "delivered":
        yield NextStep(key="ask_to_look", code=one["evidence"] or "")
    if status in _OVER:
        yield NextStep(key="resend")


def _held(stops: list[Any]) -> Iterator[NextStep]:
    """Suppressions of the tenant that stood in the way, as they are now."""
    for line in stops:
        held = line["suppression"]
        if held is None:
            continue
        key: StepKey = "suppression_released" if held["released_at"] else "release_suppression"
        yield NextStep(key=key, subject=held["id"], code=held["reason"], until=held["until"])


def _vendors(told: Mapping[str, Any], status: str) -> Iterator[NextStep]:
    """What vendors said against it, where nothing stopped it before."""
    refused = [
        one
        for one in told["attempts"]
        if one["status"]
        in (
            "failed_perm",
            "failed_temp",
            "rejected_by_provider",
            "rejected_by_recipient",
            "timed_out",
            "bounced",
        )
    ]
    if not refused and status == "bounced":
        yield NextStep(key="fix_address")
    for one in refused:
        by_recipient = one["status"] in ("rejected_by_recipient", "bounced", "failed_perm")
        key = _BY_MEANING.get(one["meaning"] or one["reason"] or "")
        yield NextStep(
            key=key or ("fix_address" if by_recipient else "vendor_trouble"),
            code=one["meaning"] or one["reason"] or one["status"],
        )


def _guardians(told: Mapping[str, Any]) -> Iterator[NextStep]:
    for line in told["decision"]:
        if line["guardian"] is not None:
            yield NextStep(key="guardian", subject=line["guardian"]["recipient_id"])
