"""`tidings api-key`: keys for callers, the first platform key above all."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.options import DatabaseUrl, DataDir, Json
from tidings.cli.printing import shown
from tidings.cli.system import operator, run_with_system, tenant_or_platform
from tidings.cli.typed import from_options, named_as
from tidings.contracts.scope_names import SCOPES

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from tidings.bootstrap import System
    from tidings.kernel.db import PlatformTx, TenantTx

app = typer.Typer(help="Create, list and revoke API keys.", no_args_is_help=True, rich_markup_mode=None)

Tenant = Annotated[
    str | None, typer.Option("--tenant", help="Whose key: the tenant's id, tnt_…, or its slug.")
]
Platform = Annotated[bool, typer.Option("--platform", help="A key of the platform itself.")]

#: How the options are called that fill these fields.
_OPTIONS = {"name": "NAME", "role": "--role", "scopes": "--scope"}


@app.command("create")
def create(
    name: Annotated[str, typer.Argument(help="What it is for, for people who read the list.")],
    *,
    tenant: Tenant = None,
    platform: Platform = False,
    role: Annotated[
        str | None, typer.Option(help="[default: tenant.admin, or platform.channel.admin with --platform]")
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--scope",
            help=f"Only this; may be repeated: {', '.join(sorted(SCOPES))}. [default: all that the role can hold]",
        ),
    ] = None,
    as_json: Json = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Create a key and print it; it is shown this once and never again."""

    from tidings.notify.access.create import create_key
    from tidings.notify.access.model import credential
    from tidings.notify.access.wire import CreateKey

    chosen = role or ("platform.channel.admin" if platform else "tenant.admin")
    wanted = from_options(CreateKey, {"name": name, "role": chosen, "scopes": _scopes(scope)}, _OPTIONS)

    async def work(system: "System") -> dict[str, str]:
        with named_as(_OPTIONS):
            async with await _side(system, tenant, platform=platform) as tx:
                key, secret = await create_key(
                    tx,
                    wanted.wish(),
                    grantor=None,
                    actor=operator(),
                    ledger=system.access.key_ledger,
                    clock=system.clock,
                )
        return {"id": key.id, "key": credential(key.id, secret), "role": key.role}

    made = run_with_system(work, data_dir, database_url)
    print(json.dumps(made, indent=2) if as_json else f"{made['id']}  {made['role']}\n{made['key']}")


def _scopes(given: list[str] | None) -> list[str] | None:
    from tidings.cli.failures import CommandError

    unknown = [scope for scope in given or () if scope not in SCOPES]
    if unknown:
        raise CommandError(f"--scope {unknown[0]} is unknown; there are {', '.join(sorted(SCOPES))}")
    return sorted(set(given)) if given else None


@app.command("list")
def list_(
    *,
    tenant: Tenant = None,
    platform: Platform = False,
    as_json: Json = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """List a tenant's keys, or the platform's, the newest first."""

    async def work(system: "System") -> list[dict[str, Any]]:
        from tidings.notify.access import store

        now = system.clock.now()
        found: list[dict[str, Any]] = []
        async with await _side(system, tenant, platform=platform) as tx:
            while page := await store.list_keys(tx, after_id=found[-1]["id"] if found else None, limit=200):
                found += [
                    {
                        "id": key.id,
                        "name": key.name,
                        "role": key.role,
                        "state": key.state(now).value,
                        "last_used_at": key.last_used_at.isoformat() if key.last_used_at else None,
                    }
                    for key in page
                ]
        return found

    found = run_with_system(work, data_dir, database_url)
    if as_json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return
    if not found:
        print("there are no keys yet; `tidings api-key create` makes one")
    for key in found:
        print(
            f"{key['id']}  {key['state']:8}  {key['role']:22}  last used {key['last_used_at'] or 'never'}  {shown(key['name'])}"
        )


@app.command("revoke")
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="KEY", help="The key's id, key_…")],
    *,
    tenant: Tenant = None,
    platform: Platform = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Revoke a key; requests that carry it are refused within a second."""

    async def work(system: "System") -> str:
        from tidings.notify.access.revoke import revoke_key
        from tidings.notify.ids import API_KEY

        wanted = API_KEY.parse(key_id, field="KEY")
        async with await _side(system, tenant, platform=platform) as tx:
            key = await revoke_key(
                tx, wanted, actor=operator(), ledger=system.access.key_ledger, clock=system.clock
            )
        return key.id

    print(f"{run_with_system(work, data_dir, database_url)} is revoked")


async def _side(
    system: "System", tenant: str | None, *, platform: bool
) -> "AbstractAsyncContextManager[TenantTx | PlatformTx]":
    from tidings.cli.failures import CommandError

    if (tenant is None) == (not platform):
        raise CommandError("say whose key: --tenant with an id or a slug, or --platform")
    whose = await tenant_or_platform(system, tenant)
    return system.db.platform() if whose is None else system.db.tenant(whose)
