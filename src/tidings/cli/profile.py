"""`tidings profile`: what was learned about reaching a recipient."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import JsonObject, Output, command_group, without_none
from tidings.cli.failures import CommandError
from tidings.cli.printing import counted, shown
from tidings.cli.resource import ResourceCommands

app = command_group()

Recipient = Annotated[str, typer.Argument(help="Their id, rcp_…")]

_TOLD = {"KNOWN_YES": "yes", "KNOWN_NO": "no", "UNKNOWN": "unknown"}


def _line(profile: Mapping[str, Any]) -> str:
    """A profile in one line, its best channels first."""
    best = "  ".join(f"{one['channel']} {one['score']:.2f}" for one in profile["channels"][:4])
    return shown(f"{profile['recipient_id']}  {profile['discovery_state']:<10}{best}").rstrip()


def _lines(profile: Mapping[str, Any]) -> Iterator[str]:
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


@api_command(app, "set", text=_lines)
def set_(
    api: Api,
    recipient: Recipient,
    *,
    whatsapp: Annotated[
        str | None, typer.Option(help="Whether WhatsApp reaches them: yes, no or unknown.")
    ] = None,
    voice: Annotated[
        str | None, typer.Option(help="Whether a code can be read to them: yes, no or unknown.")
    ] = None,
    email_verified: Annotated[
        bool | None,
        typer.Option(
            "--email-verified/--email-not-verified", help="Whether they proved that mail is theirs."
        ),
    ] = None,
    at: Annotated[
        str | None, typer.Option(help="When that was so, 2026-11-15T12:00:00Z. [default: now]")
    ] = None,
) -> JsonObject:
    """Say what is known for certain; what is known from later stays."""
    facts = without_none(
        has_whatsapp_business=_tri_state(whatsapp, "--whatsapp"),
        voice_otp_supported=_tri_state(voice, "--voice"),
        email_verified=email_verified,
    )
    if not facts:
        raise CommandError("say what is known: --whatsapp, --voice or --email-verified")
    return api.call("change_profile", recipient, body={**facts, **without_none(observed_at=at)})


@api_command(app, "forget")
def forget(
    api: Api, recipient: Recipient, *, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False
) -> Output:
    """Forget what was learned about reaching a recipient; they stay, and what comes next is learned anew."""
    if not yes and not typer.confirm(f"Forget what was learned about reaching {recipient}?", err=True):
        raise CommandError("nothing was forgotten")
    done = api.call("forget_profile", recipient)
    return Output(done, f"{recipient}: nothing is known about reaching them any more")


def _tri_state(word: str | None, option: str) -> str | None:
    states = {told: state for state, told in _TOLD.items()}
    if word is not None and word.lower() not in states:
        raise CommandError(f"{option} must be yes, no or unknown")
    return states[word.lower()] if word else None


ResourceCommands(
    "profiles",
    names={"change": "set", "delete": "forget"},
    which="Their id, rcp_…",
    line=_line,
    lines=_lines,
    empty="nothing was learned about any recipient yet",
    options={"discovery_state": "--state"},
).add_to(app)
