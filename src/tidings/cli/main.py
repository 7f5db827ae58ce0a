"""`tidings`: the commands and where each lives. Nothing heavy is imported before a command runs."""

from typing import Annotated, Final

import typer

from tidings import __version__
from tidings.cli.lazy import LazyCommand, lazy_group

#: Every command, in the order of `--help`; a test compares these lines with what the commands say of themselves.
COMMANDS: Final = {
    "up": LazyCommand(
        "up",
        "Start Tidings with its own Postgres, a demo tenant and a first key; Ctrl-C stops everything.",
        "up",
    ),
    "send": LazyCommand(
        "send", "Send a notification; with --wait the exit code is 0 only if it was delivered.", "send"
    ),
    "explain": LazyCommand(
        "explain",
        "Tell a notification's story: where it stands, what was decided and why, what happened when.",
        "explain",
    ),
    "find": LazyCommand(
        "find",
        "Find people and notifications by an address, an order number or an id, and say what to type next.",
        "find",
    ),
    "tail": LazyCommand(
        "tail",
        "Show notifications as they are accepted and as they move on; a line for each change of status.",
        "tail",
    ),
    "serve": LazyCommand(
        "serve",
        "Serve the API, and nothing else; the database is migrated beforehand with `tidings migrate up`.",
        "serve",
    ),
    "work": LazyCommand(
        "serve", "Run the jobs: relay, consumers, partitions, sweepers; any number of processes may.", "work"
    ),
    "partitions": LazyCommand(
        "partitions",
        "Make partitions ahead of time, three months of each table and some days of the bus.",
        "partitions",
    ),
    "bootstrap": LazyCommand(
        "bootstrap",
        "Publish the platform's templates and make its first key, printed this once; again, it changes nothing.",
        "bootstrap",
    ),
    "spend": LazyCommand(
        "spend",
        "Show what messages cost: estimated by the price lists, charged by what vendors said.",
        "spend",
    ),
    "break-glass": LazyCommand("break_glass", "Read across all tenants in an emergency.", "break_glass"),
    "settings": LazyCommand(
        "settings", "Show every setting with its present value; secrets stay hidden.", "settings"
    ),
    "sandbox": LazyCommand(
        "sandbox",
        "Run the stand-in for vendors alone: it speaks SMTP, SMPP, APNs and other vendors' own protocols, shows what it takes, sends receipts, and fails on demand.",
        "sandbox",
    ),
    "notification": LazyCommand("notification", "List notifications, look at one, cancel it, send it again."),
    "migrate": LazyCommand("migrate", "Bring the schema up to date, and see how it stands."),
    "branding": LazyCommand("branding", "Branding: name, logo, colour and footer of mails and pages."),
    "category": LazyCommand(
        "category", "Categories: list them, make your own, name, order, hide and retire them."
    ),
    "template": LazyCommand(
        "template", "Templates as files: fetch them, send them, compare, preview, check and publish them."
    ),
    "channel": LazyCommand(
        "channel", "Channels: who sends on them and through whom; set up, test, check and rotate them."
    ),
    "policy": LazyCommand("policy", "Policies: by which ladder messages of a use case go out."),
    "execution": LazyCommand(
        "execution", "Executions: ladders under way and over, with attempts, receipts and costs."
    ),
    "adapter": LazyCommand(
        "adapter",
        "Vendor accounts: make one, switch it off; whether they work, what they cost, how they share a channel.",
    ),
    "secret": LazyCommand(
        "secret", "Secrets of vendor accounts, entered over the API: sealed, and shown to nobody again."
    ),
    "circuit": LazyCommand(
        "circuit", "Circuits: which vendor accounts let messages through; hold one open or closed by hand."
    ),
    "status-map": LazyCommand(
        "status_map", "The status map: what vendors' codes mean, and codes that mean nothing yet."
    ),
    "conversation": LazyCommand(
        "conversation", "Conversations: what people write, and what they are answered."
    ),
    "inbound-route": LazyCommand("inbound_route", "Inbound routes: which webhook gets what people write."),
    "profile": LazyCommand(
        "profile", "What was learned about reaching people: show it, add to it, forget it."
    ),
    "tenant": LazyCommand("tenant", "Create tenants, see them, grant them senders, freeze and suspend them."),
    "recipient": LazyCommand(
        "recipient",
        "Find and show somebody, take many in; erase them, or export everything that is held about them.",
    ),
    "recipients": LazyCommand(
        "recipient",
        "Find and show somebody, take many in; erase them, or export everything that is held about them.",
        hidden=True,
    ),
    "preferences": LazyCommand("preferences", "What recipients chose, many at a time."),
    "suppression": LazyCommand(
        "suppression",
        "Addresses that must not be written to: find, add, release; import lists, count, export.",
    ),
    "suppressions": LazyCommand(
        "suppression",
        "Addresses that must not be written to: find, add, release; import lists, count, export.",
        hidden=True,
    ),
    "layout": LazyCommand("resources", "Layouts: the frames that mails are set in.", "layout"),
    "imports": LazyCommand(
        "resources", "Imports: files that were taken in, and what became of their lines.", "imports"
    ),
    "weights": LazyCommand(
        "resources",
        "Weights: how vendors share a channel; `tidings adapter share` says it in points.",
        "weights",
    ),
    "own-tenant": LazyCommand("resources", "Your own tenant, as your key sees it.", "own_tenant"),
    "platform-suppression": LazyCommand(
        "resources",
        "Addresses that no tenant may write to, with a key of the platform.",
        "platform_suppression",
    ),
    "inbound-unmatched": LazyCommand(
        "resources",
        "Messages that people wrote and no tenant claims, with a key of the platform.",
        "inbound_unmatched",
    ),
    "router-audit": LazyCommand(
        "resources",
        "What was done to policies, accounts, secrets and other things of the router, and by whom.",
        "router_audit",
    ),
    "erasure": LazyCommand("erasure", "Prove receipts of erasures."),
    "api-key": LazyCommand("api_key", "Create, list and revoke API keys."),
    "keys": LazyCommand("keys", "See which keys are in use, and rotate them."),
    "audit": LazyCommand("audit", "Verify, anchor and read the audit."),
    "flags": LazyCommand("flags", "See and switch feature flags."),
    "callbacks": LazyCommand(
        "callbacks",
        "Vendors' callbacks that found no message, and what people wrote that found no conversation: look, try again.",
    ),
    "dead-letters": LazyCommand(
        "dead_letters", "Events that a consumer group has given up on: look, replay, discard."
    ),
}

app = typer.Typer(
    name="tidings",
    help="Tidings: notifications that are sent exactly once, and that can explain themselves.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    cls=lazy_group(COMMANDS),
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


def main() -> None:
    """The console script."""
    from tidings.cli.failures import clear_failures

    with clear_failures():
        app()
