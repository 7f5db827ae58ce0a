"""`tidings tenant`: the tenants of this installation, changed as the platform's API changes them."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.command import JsonObject, Output, command_group
from tidings.cli.failures import CommandError
from tidings.cli.options import from_options, named_as
from tidings.cli.printing import picked, shown
from tidings.cli.system import find_tenant, operator, system_command
from tidings.cli.tenant_senders import lines_of_grants, lines_of_missing, not_granted, sender_options

if TYPE_CHECKING:
    from tidings.bootstrap import System
    from tidings.contracts.tenants import TenantEvent
    from tidings.notify.tenants.model import Tenant

app = command_group()

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


def _line(tenant: JsonObject) -> str:
    frozen = ", frozen" if tenant["frozen"] else ""
    return f"{tenant['id']}  {tenant['slug'] or '-':20}  {tenant['status']}{frozen}  {shown(tenant['name'])}"


def _facts(tenant: "Tenant") -> JsonObject:
    policy = tenant.notification_policy
    return {
        **picked(tenant, "id", "slug", "name", "region", "default_locale", "default_timezone"),
        "status": tenant.status.value,
        "frozen": tenant.frozen_at is not None,
        "sender_domains": policy.allowed_sender_domains,
        "sender_ids": policy.allowed_sender_ids,
    }


@system_command(app, "create", text=_line)
async def create(
    system: "System",
    slug: Annotated[str, typer.Argument(help="A short name for machines: letters, digits and dashes.")],
    *,
    name: Annotated[str | None, typer.Option(help="A name for people. [default: the slug]")] = None,
    region: Annotated[str, typer.Option(help="Where its data lives.")] = "local",
    locale: Annotated[str, typer.Option(help="Language of people who have not said theirs.")] = "en-US",
    timezone: Annotated[str, typer.Option(help="Time zone of people who have not said theirs.")] = "UTC",
    sender_domain: SenderDomain = None,
    sender_id: SenderId = None,
) -> list[JsonObject]:
    """Create a tenant and print its id; `tidings api-key create --tenant` gives it a key."""
    from tidings.notify.tenants.wire import CreateTenant

    domains, ids = sender_domain or [], sender_id or []
    values = {
        "slug": slug,
        "name": slug if name is None else name,
        "region": region,
        "default_locale": locale,
        "default_timezone": timezone,
        "notification_policy": {"allowed_sender_domains": domains, "allowed_sender_ids": ids},
    }
    options = _OPTIONS | sender_options(domains, ids)
    wanted = from_options(CreateTenant, values, options)
    with named_as(options):
        wanted.check()
        async with system.db.platform() as tx:
            return [_facts(await system.access.tenants.create(tx, wanted.event, actor=operator()))]


@system_command(app, "list", text=_line, empty="there are no tenants yet; `tidings tenant create` makes one")
async def list_(system: "System") -> list[JsonObject]:
    """List all tenants, the newest first."""
    return [_facts(tenant) for tenant in await _all_tenants(system)]


async def _all_tenants(system: "System") -> "list[Tenant]":
    from tidings.notify.tenants import store

    found: list[Tenant] = []
    async with system.db.platform() as tx:
        while page := await store.list_tenants(
            tx, after_id=found[-1].id if found else None, status=None, limit=200
        ):
            found += page
    return found


def _granted(tenant: JsonObject) -> Iterator[str]:
    yield _line(tenant)
    yield from lines_of_grants(tenant["sender_domains"], tenant["sender_ids"])


@system_command(app, "show", text=_granted)
async def show(system: "System", tenant: TenantArgument) -> list[JsonObject]:
    """Show one tenant, and the senders that are granted to it."""
    return [_facts(await find_tenant(system, tenant))]


async def _change(
    system: "System", tenant: str, make: "Callable[[Tenant], TenantEvent | None]"
) -> list[JsonObject]:
    known = await find_tenant(system, tenant)
    async with system.db.platform() as tx:
        return [_facts(await system.access.tenants.change(tx, known.id, make, actor=operator()))]


def _senders_command(
    verb: str, about: str, changed: "Callable[[Sequence[str], Sequence[str]], list[str]]"
) -> None:
    """A command that changes the lists; `changed` gives a list after the change from the one before and what was typed."""

    async def command(
        system: "System",
        tenant: TenantArgument,
        *,
        sender_domain: SenderDomain = None,
        sender_id: SenderId = None,
    ) -> list[JsonObject]:
        from msgspec import structs

        from tidings.notify.tenants.wire import UpdateTenant

        domains, ids = sender_domain or [], sender_id or []
        if not domains and not ids:
            raise CommandError(f"say what to {verb}: --sender-domain or --sender-id")
        typed = {"allowed_sender_domains": domains, "allowed_sender_ids": ids}
        from_options(UpdateTenant, {"notification_policy": typed}, sender_options(domains, ids))

        def make(known: "Tenant") -> "TenantEvent | None":
            before = known.notification_policy
            policy = structs.replace(
                before,
                allowed_sender_domains=tuple(changed(before.allowed_sender_domains, domains)),
                allowed_sender_ids=tuple(changed(before.allowed_sender_ids, ids)),
            )
            return UpdateTenant(notification_policy=policy).event(known)

        return await _change(system, tenant, make)

    command.__doc__ = about
    system_command(app, verb, text=_granted)(command)


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


@system_command(app, "senders")
async def senders(system: "System") -> Output:
    """List channels over the platform's accounts whose sender is not granted; the exit code is 1 if there is one."""
    found = await not_granted(system, await _all_tenants(system))
    return Output(found, lines_of_missing(found), exit_code=int(bool(found)))


def _status_command(verb: str, about: str) -> None:
    async def command(
        system: "System",
        tenant: TenantArgument,
        *,
        reason: Annotated[str | None, typer.Option(help="Why; it is kept in the audit.")] = None,
    ) -> list[JsonObject]:
        from tidings.notify.tenants import change
        from tidings.notify.tenants.wire import StatusChange

        why = from_options(StatusChange, {"reason": reason}, {"reason": "--reason"})
        make: Callable[[Tenant], TenantEvent | None] = getattr(change, verb)(why.reason)
        return await _change(system, tenant, make)

    command.__doc__ = about
    system_command(app, verb, text=_line)(command)


_status_command("freeze", "Take no new writes (423) while what was accepted is sent; undo with unfreeze.")
_status_command("unfreeze", "Take writes again.")
_status_command("suspend", "Close the tenant's API (403) and hold its sending; undo with resume.")
_status_command("resume", "Open a suspended tenant again.")
