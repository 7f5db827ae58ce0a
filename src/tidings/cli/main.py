"""`tidings`: the commands and where each lives. Nothing heavy is imported before a command runs."""

from typing import Annotated, Final

import typer

from tidings import __version__
from tidings.cli.lazy import lazy_group

#: Every command with its line in `--help`, in this order: all of the help of a group, and the first sentence of a command's.
COMMANDS: Final = {
    "up": "Start Tidings with its own Postgres, a demo tenant and a first key; Ctrl-C stops everything.",
    "send": "Send a notification; with --wait the exit code is 0 only if it was delivered.",
    "explain": "Tell a notification's story: where it stands, what was decided and why, what happened when.",
    "find": "Find people and notifications by an address, an order number or an id, and say what to type next.",
    "tail": "Show notifications as they are accepted and as they move on; a line for each change of status.",
    "serve": "Serve the API, and nothing else; the database is migrated beforehand with `tidings migrate up`.",
    "work": "Run the jobs: relay, consumers, partitions, sweepers; any number of processes may.",
    "partitions": "Make partitions ahead of time, three months of each table and some days of the bus.",
    "bootstrap": "Publish the platform's templates and triggers and make its first key, printed this once; again, it changes nothing.",
    "spend": "Show what messages cost: estimated by the price lists, charged by what vendors said.",
    "statistics": "Statistics: how ladders, vendors and executions went over days and hours, and which tenants send most.",
    "break-glass": "Read across all tenants in an emergency.",
    "settings": "Show every setting with its present value; secrets stay hidden.",
    "sandbox": "Run the stand-in for vendors alone: it speaks SMTP, SMPP, APNs and other vendors' own protocols, shows what it takes, sends receipts, and fails on demand.",
    "demo": "Fill the demo tenant with a plausible month, over the API; again, it changes nothing.",
    "clock": "For trying out: move the time of a Tidings that was started with `tidings up --clock`.",
    "trigger": "Triggers: which event sends what to whom, and when; test an event, adopt a set.",
    "scheduled": "The schedule: what is planned and what waits; look, cancel, retry.",
    "batch": "Batches: one template to many people; write, try out, start, follow, pause, resume, cancel.",
    "event": "Events: say what happened, see what came, and hear what happens.",
    "event-subscription": "Events that other systems publish on NATS: which subjects come in, as whose events; with a key of the platform.",
    "event-reader": "Readers of events whose place is kept: see them, make them, move them.",
    "listen": "Forward events to your own machine as signed webhooks, without a public address; or print them.",
    "webhook": "Webhooks: which of your services are told of which events; make, test, pause, deliver again, recover.",
    "notification": "List notifications, look at one, cancel it, send it again.",
    "migrate": "Bring the schema up to date, and see how it stands.",
    "branding": "Branding: name, logo, colour and footer of mails and pages.",
    "category": "Categories: list them, make your own, name, order, hide and retire them.",
    "template": "Templates as files: fetch them, send them, compare, preview, check and publish them.",
    "channel": "Channels: their senders and vendors; set up, test, check and rotate them.",
    "policy": "Policies: by which ladder messages of a use case go out.",
    "execution": "Executions: ladders under way and over, with attempts, receipts and costs.",
    "adapter": "Vendor accounts: make one, switch it off; whether they work, what they cost, how they share a channel.",
    "secret": "Secrets of vendor accounts, entered over the API: sealed, and never shown again.",
    "circuit": "Circuits: which vendor accounts let messages through; hold one open or closed by hand.",
    "status-map": "The status map: what vendors' codes mean, and codes that mean nothing yet.",
    "conversation": "Conversations: what people write, and what they are answered.",
    "inbound-route": "Inbound routes: which webhook gets what people write.",
    "profile": "What was learned about reaching people: show it, add to it, forget it.",
    "tenant": "Create tenants, see them, grant them senders, freeze and suspend them.",
    "tenant-settings": "What a tenant decides itself: language, quiet hours, limits for one person, links, consent.",
    "recipient": "Recipients: find and show one, import many; erase one, or export everything that is held about them.",
    "recipients": "Recipients: find and show one, import many; erase one, or export everything that is held about them.",
    "preferences": "What recipients chose, many at a time.",
    "suppression": "Addresses that must not be written to: find, add, release; import lists, count, export.",
    "suppressions": "Addresses that must not be written to: find, add, release; import lists, count, export.",
    "inbox": "In-app inboxes: what a recipient has in theirs; mark, snooze, delete; make and void the tokens that open them.",
    "own-inbox": "Your own in-app inbox, with an inbox token in the place of the key.",
    "digest": "Digests: what is being gathered for whom and until when; send one now.",
    "layout": "Layouts: the frames that mails are set in.",
    "imports": "Imports: files that were taken in, and what became of their lines.",
    "weights": "Weights: how vendors share a channel; `tidings adapter share` says it in points.",
    "own-tenant": "Your own tenant, as your key sees it.",
    "platform-suppression": "Addresses that no tenant may write to, with a key of the platform.",
    "inbound-unmatched": "Messages that people wrote and no tenant claims, with a key of the platform.",
    "router-audit": "What was done to policies, accounts, secrets and other things of the router, and by which caller.",
    "erasure": "Prove receipts of erasures.",
    "exports": "Ledgers of operators as Parquet files: list, export now, verify, fetch.",
    "operator": "Operators: the people who sign in to the web console; invite, list, disable, unlock, begin anew, open.",
    "bff-gate": "Put the back office under the load of a busy region, in a house of its own, and say whether it holds; exit code 1: it does not, 3: it does not on a machine that is busy.",
    "api-key": "Create, list and revoke API keys.",
    "keys": "See which keys are in use, and rotate them.",
    "audit": "Verify, anchor and read the audit.",
    "flags": "See and switch feature flags.",
    "callbacks": "Vendors' callbacks that found no message, and what people wrote that found no conversation: look, try again.",
    "bus": "The bus: on which engine it is, how far each consumer group has come, and moving it to the other engine.",
    "dead-letters": "Events that a consumer group has given up on: look, replay, discard.",
}

#: The module of a command that is not called like it.
_MODULES: Final = {
    "work": "serve",
    "recipients": "recipient",
    "suppressions": "suppression",
    "preferences": "resources",
    "inbox": "resources",
    "own-inbox": "resources",
    "digest": "resources",
    "layout": "resources",
    "imports": "resources",
    "weights": "resources",
    "statistics": "resources",
    "own-tenant": "resources",
    "tenant-settings": "resources",
    "event-subscription": "resources",
    "event-reader": "resources",
    "platform-suppression": "resources",
    "inbound-unmatched": "resources",
    "router-audit": "resources",
}
#: Old names of commands: they work, and are not listed.
_HIDDEN: Final = {"recipients", "suppressions"}

app = typer.Typer(
    name="tidings",
    help="Tidings: notifications that are sent exactly once, and that can explain themselves.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    cls=lazy_group(COMMANDS, _MODULES, _HIDDEN),
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
