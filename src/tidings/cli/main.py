"""`tidings`: the commands and where each lives. Nothing heavy is imported before a command runs."""

from typing import Annotated

import typer

from tidings import __version__
from tidings.cli import (
    adapter,
    api_key,
    audit,
    bootstrap,
    branding,
    break_glass,
    callbacks,
    category,
    channel,
    circuit,
    conversation,
    dead_letters,
    erasure,
    execution,
    explain,
    find,
    flags,
    inbound_route,
    keys,
    migrate,
    notification,
    partitions,
    policy,
    preferences,
    profile,
    recipient,
    recipients,
    sandbox,
    secret,
    send,
    serve,
    settings,
    spend,
    status_map,
    suppression,
    suppressions,
    tail,
    template,
    tenant,
    up,
)

app = typer.Typer(
    name="tidings",
    help="Tidings: notifications that are sent exactly once, and that can explain themselves.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"tidings {__version__}")
        raise typer.Exit


@app.callback()
def tidings(
    version: Annotated[  # the callback has done the work
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Tidings: notifications that are sent exactly once, and that can explain themselves."""


app.command("up")(up.up)
app.command("send")(send.send)
app.command("explain")(explain.explain)
app.command("find")(find.find)
app.add_typer(notification.app, name="notification")
app.command("tail")(tail.tail)
app.command("serve")(serve.serve)
app.command("work")(serve.work)
app.add_typer(migrate.app, name="migrate")
app.command("partitions")(partitions.partitions)
app.command("bootstrap")(bootstrap.bootstrap)
app.add_typer(branding.app, name="branding")
app.add_typer(category.app, name="category")
app.add_typer(template.app, name="template")
app.add_typer(channel.app, name="channel")
app.add_typer(policy.app, name="policy")
app.add_typer(execution.app, name="execution")
app.add_typer(adapter.app, name="adapter")
app.add_typer(secret.app, name="secret")
app.add_typer(circuit.app, name="circuit")
app.add_typer(status_map.app, name="status-map")
app.add_typer(conversation.app, name="conversation")
app.add_typer(inbound_route.app, name="inbound-route")
app.command("spend")(spend.spend)
app.add_typer(profile.app, name="profile")
app.add_typer(tenant.app, name="tenant")
app.add_typer(recipient.app, name="recipient")
app.add_typer(recipients.app, name="recipients")
app.add_typer(preferences.app, name="preferences")
app.add_typer(suppression.app, name="suppression")
app.add_typer(suppressions.app, name="suppressions")
app.add_typer(erasure.app, name="erasure")
app.add_typer(api_key.app, name="api-key")
app.add_typer(keys.app, name="keys")
app.add_typer(audit.app, name="audit")
app.add_typer(flags.app, name="flags")
app.add_typer(callbacks.app, name="callbacks")
app.add_typer(dead_letters.app, name="dead-letters")
app.command("break-glass")(break_glass.break_glass)
app.command("settings")(settings.settings)
app.command("sandbox")(sandbox.sandbox)


def main() -> None:
    """The console script."""
    from tidings.cli.failures import clear_failures

    with clear_failures():
        app()
