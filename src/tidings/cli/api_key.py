"""`tidings api-key`: keys for callers, the first platform key above all."""

from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.command import JsonObject, Output, command_group
from tidings.cli.failures import CommandError
from tidings.cli.options import from_options, named_as
from tidings.cli.printing import picked, shown
from tidings.cli.system import operator, system_command, tenant_or_platform
from tidings.contracts.scope_names import SCOPES

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from tidings.bootstrap import System
    from tidings.kernel.db import PlatformTx, TenantTx
    from tidings.notify.access.wire import CreateKey

app = command_group()

Tenant = Annotated[str | None, typer.Option(help="Whose key: the tenant's id, tnt_…, or its slug.")]
Platform = Annotated[bool, typer.Option("--platform", help="A key of the platform itself.")]
_SCOPES = ", ".join(sorted(SCOPES))
#: How the options are called that fill these fields.
_OPTIONS = {"name": "NAME", "role": "--role", "scopes": "--scope"}


def _check(
    *, name: str, tenant: str | None, platform: bool, role: str | None, scope: list[str] | None
) -> None:
    unknown = [one for one in scope or () if one not in SCOPES]
    if unknown:
        raise CommandError(f"--scope {unknown[0]} is unknown; there are {_SCOPES}")
    _wanted(name, role, scope, platform=platform)
    _check_side(tenant=tenant, platform=platform)


def _wanted(name: str, role: str | None, scope: list[str] | None, *, platform: bool) -> "CreateKey":
    from tidings.notify.access.wire import CreateKey

    chosen = role or ("platform.channel.admin" if platform else "tenant.admin")
    scopes = sorted(set(scope)) if scope else None
    return from_options(CreateKey, {"name": name, "role": chosen, "scopes": scopes}, _OPTIONS)


def _check_side(*, tenant: str | None, platform: bool) -> None:
    if (tenant is None) == (not platform):
        raise CommandError("say whose key: --tenant with an id or a slug, or --platform")


@system_command(app, "create", check=_check)
async def create(
    system: "System",
    name: Annotated[str, typer.Argument(help="What it is for, for people who read the list.")],
    *,
    tenant: Tenant = None,
    platform: Platform = False,
    role: Annotated[
        str | None, typer.Option(help="[default: tenant.admin, or platform.channel.admin with --platform]")
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(help=f"Only this; may be repeated: {_SCOPES}. [default: all that the role can hold]"),
    ] = None,
) -> Output:
    """Create a key and print it; it is shown this once and never again."""
    from tidings.notify.access.create import create_key
    from tidings.notify.access.model import credential

    wanted = _wanted(name, role, scope, platform=platform)
    with named_as(_OPTIONS):
        async with await _side(system, tenant, platform=platform) as tx:
            key, secret = await create_key(
                tx,
                wanted.spec(),
                grantor=None,
                actor=operator(),
                ledger=system.access.key_ledger,
                clock=system.clock,
            )
    made = {"id": key.id, "key": credential(key.id, secret), "role": key.role}
    return Output(made, [f"{made['id']}  {made['role']}", made["key"]])


def _line(key: JsonObject) -> str:
    last = key["last_used_at"].isoformat() if key["last_used_at"] else "never"
    return f"{key['id']}  {key['state']:8}  {key['role']:22}  last used {last}  {shown(key['name'])}"


@system_command(app, "list", text=_line, empty="there are no keys yet; `tidings api-key create` makes one")
async def list_(system: "System", *, tenant: Tenant = None, platform: Platform = False) -> list[JsonObject]:
    """List a tenant's keys, or the platform's, the newest first."""
    from tidings.notify.access import store

    now = system.clock.now()
    found: list[JsonObject] = []
    async with await _side(system, tenant, platform=platform) as tx:
        while page := await store.list_keys(tx, after_id=found[-1]["id"] if found else None, limit=200):
            found += [
                {**picked(key, "id", "name", "role", "last_used_at"), "state": key.state(now).value}
                for key in page
            ]
    return found


@system_command(app, "revoke")
async def revoke(
    system: "System",
    key_id: Annotated[str, typer.Argument(metavar="KEY", help="The key's id, key_…")],
    *,
    tenant: Tenant = None,
    platform: Platform = False,
) -> Output:
    """Revoke a key; requests that carry it are refused within a second."""
    from tidings.notify.access.revoke import revoke_key
    from tidings.notify.ids import API_KEY

    wanted = API_KEY.parse(key_id, field="KEY")
    async with await _side(system, tenant, platform=platform) as tx:
        key = await revoke_key(
            tx, wanted, actor=operator(), ledger=system.access.key_ledger, clock=system.clock
        )
    return Output({"id": key.id}, f"{key.id} is revoked")


async def _side(
    system: "System", tenant: str | None, *, platform: bool
) -> "AbstractAsyncContextManager[TenantTx | PlatformTx]":
    _check_side(tenant=tenant, platform=platform)
    return system.db.scoped(await tenant_or_platform(system, tenant))
