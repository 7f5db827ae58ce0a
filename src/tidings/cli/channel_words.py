"""Channels in words: what commands about them read from the keyboard, and what they print."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tidings.cli.failures import CommandError
from tidings.cli.printing import shown

_MARKS = {"pass": "ok  ", "warn": "warn", "fail": "FAIL", "unknown": "?   "}


def accounts_of(given: Sequence[str]) -> dict[str, dict[str, str]]:
    """`VENDOR=REFERENCE`, by vendor."""
    found: dict[str, dict[str, str]] = {}
    for text in given:
        vendor, equals, reference = text.partition("=")
        if not equals or not vendor or "://" not in reference:
            # What was typed is not repeated: people type the secret where the reference belongs.
            raise CommandError("--account must have the form VENDOR=REFERENCE, such as smtp=sealed://smtp")
        found[vendor] = {"secret_ref": reference}
    return found


def merged(
    known: Mapping[str, Any] | None,
    *,
    vendor: str | None,
    fallback: str | None,
    sender: Mapping[str, str | None],
    disable: bool | None,
) -> dict[str, Any]:
    """The whole channel: what is known of it, with what was said now."""
    before = known or {}
    chosen = vendor or before.get("vendor")
    if chosen is None:
        raise CommandError("this channel is not set up yet: say through whom with --vendor")
    wish: dict[str, Any] = {
        "vendor": chosen,
        "fallback_vendor": None if fallback == "-" else fallback or before.get("fallback_vendor"),
        "sender": {**before.get("sender", {}), **{n: v for n, v in sender.items() if v is not None}},
        "branding": before.get("branding"),
        "rate_limit": before.get("rate_limit", {}),
    }
    if disable is not None or before.get("status") == "disabled":
        wish["status"] = "active" if disable is False else "disabled"
    return wish


def line_of(channel: Mapping[str, Any]) -> str:
    """A channel in one line."""
    vendors = " then ".join(v for v in (channel["vendor"], channel.get("fallback_vendor")) if v)
    return shown(f"{channel['channel']:<9} {channel['status']:<9} {vendors:<19} {_sender(channel['sender'])}")


def health_of(channel: Mapping[str, Any]) -> Iterator[str]:
    """Its vendors that take no messages now."""
    for vendor, one in channel.get("health", {}).items():
        until = f", is tried again from {one['until']}" if one.get("until") else ""
        yield shown(f"  {vendor} takes no messages since {one['since']}: {one['reason']}{until}")


def lines_of(channel: Mapping[str, Any]) -> Iterator[str]:
    """A channel with its accounts and credentials."""
    yield line_of(channel)
    yield from health_of(channel)
    for account in channel.get("accounts", ()):
        whose = "the platform's" if account["owner"] == "platform" else "your own"
        off = "" if account.get("active", True) else ", switched off: `tidings adapter enable` switches it on"
        yield shown(f"  {account['vendor']}: {whose} account{off}")
    for credential in channel.get("credentials", ()):
        until = credential.get("revoked_at") or credential.get("rotated_at") or ""
        yield shown(
            f"  {credential['id']}  {credential['vendor']:<8}  {credential['status']:<10}  "
            f"{credential['secret_ref']}  {until}"
        ).rstrip()


def told_of_test(found: Mapping[str, Any]) -> str:
    """What the vendor said."""
    said = {
        "accepted": "has taken it",
        "refused": "refuses it",
        "try_later": "did not take it now",
        "unlearned": "may have taken it; its answer was not learned",
    }[found["result"]]
    name = found.get("provider_message_id")
    more = f" as {name}" if name else ""
    why = f": {found['reason']}" if found.get("reason") else ""
    code = f" ({found['code']})" if found.get("code") else ""
    return shown(f"{found['vendor']} {said}{more}{why}{code}")


def told_of_dns(found: Mapping[str, Any]) -> Iterator[str]:
    """Each check with what to do about it."""
    yield shown(f"{found['domain']}: {found['status']}")
    for check in found["checks"]:
        yield shown(f"{_MARKS.get(check['status'], '?   ')}  {check['check'].upper():<6}{check['what']}")
        if check.get("found"):
            yield shown(f"            {check['name']}: {check['found'][:160]}")
        if check.get("how"):
            yield shown(f"            → {check['how']}")


def told_of_rotation(done: Mapping[str, Any]) -> Iterator[str]:
    """What is in use now, and when the old one may go."""
    asked = {
        "accepted": "the vendor takes it",
        "not_asked": "the vendor could not be asked without sending",
        "skipped": "the vendor was not asked",
    }
    yield shown(f"{done['vendor']}: the new credential is in use; {asked.get(done['check']['result'], '')}")
    yield from list(lines_of(done["channel"]))[1:]
    if any(c["status"] == "superseded" for c in done["channel"]["credentials"]):
        yield "delete the superseded one at the vendor when `tidings channel show` calls it revoked"


def _sender(sender: Mapping[str, Any]) -> str:
    address = sender.get("from_address") or sender.get("sender_id") or ""
    name = sender.get("from_name")
    return f"{name} <{address}>" if name else str(address)
