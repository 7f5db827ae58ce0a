"""Profiles in words: what commands about them print."""

from collections.abc import Iterator, Mapping
from typing import Any

from tidings.cli.printing import counted, shown

_TOLD = {"KNOWN_YES": "yes", "KNOWN_NO": "no", "UNKNOWN": "unknown"}


def line_of(profile: Mapping[str, Any]) -> str:
    """A profile in one line, its best channels first."""
    best = "  ".join(f"{one['channel']} {one['score']:.2f}" for one in profile["channels"][:4])
    return shown(f"{profile['recipient_id']}  {profile['discovery_state']:<10}{best}").rstrip()


def lines_of(profile: Mapping[str, Any]) -> Iterator[str]:
    """A profile with all of its channels and facts."""
    yield shown(f"{profile['recipient_id']}  {profile['discovery_state']}")
    for one in profile["channels"]:
        yield shown(
            f"  {one['channel']:<10}arrives {one['score']:>4.0%}  believed {one['confidence']:>4.0%}  "
            f"observed {counted(one['observations'], 'time'):>10}, last at {one['last_observed_at']}"
        )
    if not profile["channels"]:
        yield "  nothing was observed yet"
    yield shown(f"  WhatsApp: {_TOLD.get(profile['has_whatsapp_business'], '?')}")
    yield shown(f"  a code by voice: {_TOLD.get(profile['voice_otp_supported'], '?')}")
    yield f"  mailbox verified: {'yes' if profile['email_verified'] else 'no'}"
    known = [name for name in ("telegram", "viber") if profile.get(f"{name}_known")]
    if known:
        yield shown(f"  ids known: {', '.join(known)}")
