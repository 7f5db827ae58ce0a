"""`tidings profile`: what was learned about reaching somebody."""

from typing import Annotated

import typer

from tidings.cli.api_command import Api, JsonObject, Output, api_command, without_none
from tidings.cli.failures import CommandError
from tidings.cli.profile_words import line_of, lines_of
from tidings.cli.resource import add_resource

app = typer.Typer(
    help="What was learned about reaching people: show it, add to it, forget it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Recipient = Annotated[str, typer.Argument(metavar="RECIPIENT", help="Their id, rcp_…")]

_WORDS = {"yes": "KNOWN_YES", "no": "KNOWN_NO", "unknown": "UNKNOWN"}


@api_command(app, "list", text=line_of, empty="nothing was learned about anybody yet")
def list_(
    api: Api,
    *,
    state: Annotated[
        str | None, typer.Option("--state", help="Only those known so well: unseen, learning or stable.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="How many at most.")] = 50,
) -> list[JsonObject]:
    """Show profiles, the newest first, one line each."""
    wanted = None if state is None else state.upper()
    return api.list_all("list_profiles", most=limit, discovery_state=wanted)


@api_command(app, "show", text=lines_of)
def show(api: Api, recipient: Recipient) -> JsonObject:
    """Show how well each channel reaches somebody, and what is known for certain."""
    return api.call("show_profile", recipient)


@api_command(app, "set", text=lines_of)
def set_(
    api: Api,
    recipient: Recipient,
    *,
    whatsapp: Annotated[
        str | None, typer.Option("--whatsapp", help="Whether WhatsApp reaches them: yes, no or unknown.")
    ] = None,
    voice: Annotated[
        str | None, typer.Option("--voice", help="Whether a code can be read to them: yes, no or unknown.")
    ] = None,
    email_verified: Annotated[
        bool | None,
        typer.Option(
            "--email-verified/--email-not-verified", help="Whether they proved that mail is theirs."
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option("--at", help="When that was so, such as 2026-11-15T12:00:00Z. [default: now]"),
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
    api: Api,
    recipient: Recipient,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> Output:
    """Forget what was learned about reaching somebody; they stay, and what comes next is learned anew."""
    if not yes and not typer.confirm(f"Forget what was learned about reaching {recipient}?", err=True):
        raise CommandError("nothing was forgotten")
    done = api.call("forget_profile", recipient)
    return Output(done, f"{recipient}: nothing is known about reaching them any more")


def _tri_state(word: str | None, option: str) -> str | None:
    if word is None:
        return None
    if word.lower() not in _WORDS:
        raise CommandError(f"{option} must be yes, no or unknown")
    return _WORDS[word.lower()]


add_resource(app, "profiles", names={"change": "set", "delete": "forget"})
