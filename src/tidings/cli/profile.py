"""`tidings profile`: what was learned about reaching somebody."""

from typing import Annotated, Any

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.failures import CommandError
from tidings.cli.options import DataDir, Json
from tidings.cli.printing import print_json

app = typer.Typer(
    help="What was learned about reaching people: show it, add to it, forget it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Recipient = Annotated[str, typer.Argument(metavar="RECIPIENT", help="Their id, rcp_…")]

_WORDS = {"yes": "KNOWN_YES", "no": "KNOWN_NO", "unknown": "UNKNOWN"}


@app.command("list")
def list_(
    *,
    state: Annotated[
        str | None, typer.Option("--state", help="Only those known so well: unseen, learning or stable.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="How many at most.")] = 50,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show profiles, the newest first, one line each."""
    from tidings.cli.profile_words import line_of
    from tidings_client import profiles

    with client(url, key, tenant, data_dir) as tidings:
        wanted = None if state is None else state.upper()
        found = tidings.call(profiles.page(discovery_state=wanted, limit=limit))["items"]
    if as_json:
        print_json(found)
        return
    for profile in found:
        print(line_of(profile))
    if not found:
        print("nothing was learned about anybody yet")


@app.command("show")
def show(
    recipient: Recipient,
    *,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show how well each channel reaches somebody, and what is known for certain."""
    from tidings.cli.profile_words import lines_of
    from tidings_client import profiles

    with client(url, key, tenant, data_dir) as tidings:
        found = tidings.call(profiles.show(recipient))
    print_json(found) if as_json else print("\n".join(lines_of(found)))


@app.command("set")
def set_(
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
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Say what is known for certain; what is known from later stays."""
    from tidings.cli.profile_words import lines_of
    from tidings_client import profiles

    named = {
        "has_whatsapp_business": _tri_state(whatsapp, "--whatsapp"),
        "voice_otp_supported": _tri_state(voice, "--voice"),
        "email_verified": email_verified,
    }
    facts: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    if not facts:
        raise CommandError("say what is known: --whatsapp, --voice or --email-verified")
    if at is not None:
        facts["observed_at"] = at
    with client(url, key, tenant, data_dir) as tidings:
        found = tidings.call(profiles.tell(recipient, facts))
    print_json(found) if as_json else print("\n".join(lines_of(found)))


@app.command("forget")
def forget(
    recipient: Recipient,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Forget what was learned about reaching somebody; they stay, and what comes next is learned anew."""
    from tidings_client import profiles

    if not yes and not typer.confirm(f"Forget what was learned about reaching {recipient}?", err=True):
        raise CommandError("nothing was forgotten")
    with client(url, key, tenant, data_dir) as tidings:
        tidings.call(profiles.forget(recipient))
    print(f"{recipient}: nothing is known about reaching them any more")


def _tri_state(word: str | None, option: str) -> str | None:
    if word is None:
        return None
    if word.lower() not in _WORDS:
        raise CommandError(f"{option} must be yes, no or unknown")
    return _WORDS[word.lower()]
