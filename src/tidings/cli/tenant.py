"""`tidings tenant`: the tenants of this installation, changed as the platform's API changes them."""

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.failures import CommandError
from tidings.cli.options import DatabaseUrl, DataDir, Json
from tidings.cli.printing import shown
from tidings.cli.system import find_tenant, operator, run_with_system
from tidings.cli.tenant_senders import lines_of_grants, lines_of_missing, not_granted, sender_options
from tidings.cli.typed import from_options, named_as

if TYPE_CHECKING:
    from tidings.bootstrap import System
    from tidings.contracts.tenants import TenantEvent
    from tidings.notify.tenants.model import Tenant

app = typer.Typer(
    help="Create tenants, see them, grant them senders, freeze and suspend them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

TenantArgument = Annotated[str, typer.Argument(metavar="TENANT", help="The tenant's id, tnt_…, or its slug.")]
#: How the options are called that fill these fields.
_OPTIONS = {
    "slug": "SLUG",
    "name": "--name",
    "region": "--region",
    "default_locale": "--locale",
    "default_timezone": "--timezone",
}
SenderDomain = Annotated[
    list[str] | None,
    typer.Option(
        "--sender-domain",
        metavar="DOMAIN",
        help="Mail may come from there over the platform's accounts; *.DOMAIN for its subdomains, * for all; may be repeated.",
    ),
]
SenderId = Annotated[
    list[str] | None,
    typer.Option(
        "--sender-id",
        metavar="SENDER",
        help="Telephones may show it over the platform's accounts: a number or a name, * for all; may be repeated.",
    ),
]
Reason = Annotated[str | None, typer.Option(help="Why; it is kept in the audit.")]


@app.command("create")
def create(
    slug: Annotated[str, typer.Argument(help="A short name for machines: letters, digits and dashes.")],
    *,
    name: Annotated[str | None, typer.Option(help="A name for people. [default: the slug]")] = None,
    region: Annotated[str, typer.Option(help="Where its data lives.")] = "local",
    locale: Annotated[str, typer.Option(help="Language of people who have not said theirs.")] = "en-US",
    timezone: Annotated[str, typer.Option(help="Time zone of people who have not said theirs.")] = "UTC",
    sender_domain: SenderDomain = None,
    sender_id: SenderId = None,
    as_json: Json = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Create a tenant and print its id; `tidings api-key create --tenant` gives it a key."""

    from tidings.notify.tenants.wire import CreateTenant

    values = {
        "slug": slug,
        "name": slug if name is None else name,
        "region": region,
        "default_locale": locale,
        "default_timezone": timezone,
        "notification_policy": {
            "allowed_sender_domains": sender_domain or [],
            "allowed_sender_ids": sender_id or [],
        },
    }
    options = _OPTIONS | sender_options(sender_domain or (), sender_id or ())
    wanted = from_options(CreateTenant, values, options)
    with named_as(options):
        wanted.check()

    async def work(system: "System") -> "Tenant":
        with named_as(options):
            async with system.db.platform() as tx:
                return await system.access.tenants.create(tx, wanted.event, actor=operator())

    _show([run_with_system(work, data_dir, database_url)], as_json=as_json)


@app.command("list")
def list_(*, as_json: Json = False, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """List all tenants, the newest first."""

    _show(run_with_system(_all_tenants, data_dir, database_url), as_json=as_json)


async def _all_tenants(system: "System") -> "list[Tenant]":
    from tidings.notify.tenants import store

    found: list[Tenant] = []
    async with system.db.platform() as tx:
        while page := await store.list_tenants(
            tx, after_id=found[-1].id if found else None, status=None, limit=200
        ):
            found += page
    return found


@app.command("show")
def show(
    tenant: TenantArgument,
    *,
    as_json: Json = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Show one tenant, and the senders that are granted to it."""

    async def work(system: "System") -> "Tenant":
        return await find_tenant(system, tenant)

    _show_senders(run_with_system(work, data_dir, database_url), as_json=as_json)


def _senders_command(
    verb: str, about: str, changed: "Callable[[Sequence[str], Sequence[str]], list[str]]"
) -> None:
    """A command that changes the lists; `changed` gives a list after the change from the one before and what was typed."""

    def command(
        tenant: TenantArgument,
        *,
        sender_domain: SenderDomain = None,
        sender_id: SenderId = None,
        as_json: Json = False,
        data_dir: DataDir = None,
        database_url: DatabaseUrl = None,
    ) -> None:
        from msgspec import structs

        from tidings.contracts.tenants import NotificationPolicy
        from tidings.notify.tenants.wire import UpdateTenant

        domains, ids = sender_domain or [], sender_id or []
        if not domains and not ids:
            raise CommandError(f"say what to {verb}: --sender-domain or --sender-id")
        options = sender_options(domains, ids)
        typed = {"allowed_sender_domains": domains, "allowed_sender_ids": ids}
        from_options(UpdateTenant, {"notification_policy": typed}, options)

        def make(known: "Tenant") -> "TenantEvent | None":
            policy: NotificationPolicy = structs.replace(
                known.notification_policy,
                allowed_sender_domains=tuple(
                    changed(known.notification_policy.allowed_sender_domains, domains)
                ),
                allowed_sender_ids=tuple(changed(known.notification_policy.allowed_sender_ids, ids)),
            )
            return UpdateTenant(notification_policy=policy).event(known)

        async def work(system: "System") -> "Tenant":
            known = await find_tenant(system, tenant)
            async with system.db.platform() as tx:
                return await system.access.tenants.change(tx, known.id, make, actor=operator())

        _show_senders(run_with_system(work, data_dir, database_url), as_json=as_json)

    command.__doc__ = about
    app.command(verb)(command)


_senders_command(
    "grant",
    "Let a tenant send as these over the platform's accounts; undo with ungrant.",
    lambda before, typed: [*before, *(one for one in dict.fromkeys(typed) if one not in before)],
)
_senders_command(
    "ungrant",
    "Take senders from a tenant: its next message as one of them is refused.",
    lambda before, typed: [one for one in before if one not in typed],
)


@app.command("senders")
def senders(*, as_json: Json = False, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """List channels over the platform's accounts whose sender is not granted; the exit code is 1 if there is one."""

    async def work(system: "System") -> list[dict[str, str | None]]:
        return await not_granted(system, await _all_tenants(system))

    found = run_with_system(work, data_dir, database_url)
    print(json.dumps(found, indent=2, ensure_ascii=False) if as_json else "\n".join(lines_of_missing(found)))
    if found:
        raise SystemExit(1)


def _status_command(verb: str, about: str) -> None:
    def command(
        tenant: TenantArgument,
        *,
        reason: Reason = None,
        as_json: Json = False,
        data_dir: DataDir = None,
        database_url: DatabaseUrl = None,
    ) -> None:
        from tidings.notify.tenants import change
        from tidings.notify.tenants.wire import StatusChange

        why = from_options(StatusChange, {"reason": reason}, {"reason": "--reason"})
        make: Callable[[Tenant], TenantEvent | None] = getattr(change, verb)(why.reason)

        async def work(system: "System") -> "Tenant":
            known = await find_tenant(system, tenant)
            async with system.db.platform() as tx:
                return await system.access.tenants.change(tx, known.id, make, actor=operator())

        _show([run_with_system(work, data_dir, database_url)], as_json=as_json)

    command.__doc__ = about
    app.command(verb)(command)


_status_command("freeze", "Take no new writes (423) while what was accepted is sent; undo with unfreeze.")
_status_command("unfreeze", "Take writes again.")
_status_command("suspend", "Close the tenant's API (403) and hold its sending; undo with resume.")
_status_command("resume", "Open a suspended tenant again.")


def _show_senders(tenant: "Tenant", *, as_json: bool) -> None:
    _show([tenant], as_json=as_json)
    if as_json:
        return
    print("\n".join(lines_of_grants(tenant.notification_policy)))


def _show(tenants: "list[Tenant]", *, as_json: bool) -> None:
    facts: list[dict[str, Any]] = [
        {
            "id": tenant.id,
            "slug": tenant.slug,
            "name": tenant.name,
            "status": tenant.status.value,
            "frozen": tenant.frozen_at is not None,
            "region": tenant.region,
            "default_locale": tenant.default_locale,
            "default_timezone": tenant.default_timezone,
            "sender_domains": list(tenant.notification_policy.allowed_sender_domains),
            "sender_ids": list(tenant.notification_policy.allowed_sender_ids),
        }
        for tenant in tenants
    ]
    if as_json:
        print(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    for fact in facts:
        frozen = ", frozen" if fact["frozen"] else ""
        print(f"{fact['id']}  {fact['slug'] or '-':20}  {fact['status']}{frozen}  {shown(fact['name'])}")
    if not facts:
        print("there are no tenants yet; `tidings tenant create` makes one")
