"""`tidings operator`: the people who sign in to the web console; straight on the database, for who runs the installation."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.command import JsonObject, Output, command_group
from tidings.cli.failures import CommandError
from tidings.cli.options import from_options, named_as
from tidings.cli.printing import shown
from tidings.cli.system import operator, system_command, tenant_or_platform

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from tidings.backoffice.api.wire import ChangeOperator, InviteOperator
    from tidings.backoffice.ids import OperatorId
    from tidings.backoffice.operators.change import By
    from tidings.backoffice.operators.model import MadeLink, OperatorRecord
    from tidings.bootstrap import System
    from tidings.kernel.db import PlatformTx, TenantTx

app = command_group()

Tenant = Annotated[str | None, typer.Option(help="Whose operator: the tenant's id, tnt_…, or its slug.")]
Platform = Annotated[bool, typer.Option("--platform", help="An operator of the platform itself.")]
Who = Annotated[str, typer.Argument(metavar="OPERATOR", help="Their id, oper_…, or their mail.")]
Property = Annotated[
    list[str] | None,
    typer.Option(
        "--property",
        metavar="ID",
        help="A property that they may see; may be given again; '*' for every one. [default: '*' for tenant.admin, otherwise none]",
    ),
]
#: How the options are called that fill these fields.
_OPTIONS = {"name": "--name", "email": "--email", "role": "--role", "properties": "--property"}
_MOST = 200


def _check_side(*, tenant: str | None, platform: bool) -> None:
    if (tenant is None) == (not platform):
        raise CommandError("say whose operator: --tenant with an id or a slug, or --platform")


def _check_one(*, who: str, tenant: str | None, platform: bool) -> None:
    _check_side(tenant=tenant, platform=platform)
    if "@" not in who and not who.startswith("oper_"):
        raise CommandError(f"OPERATOR must be an id, oper_…, or a mail, not {shown(who)!r}")


def _wanted(
    email: str, name: str | None, role: str | None, properties: list[str] | None, *, platform: bool
) -> "InviteOperator":
    from tidings.backoffice.api.wire import InviteOperator
    from tidings.backoffice.properties.access import ALL_PROPERTIES

    known = role or ("platform.channel.admin" if platform else "tenant.admin")
    # An admin without properties could give them to nobody.
    usual = [ALL_PROPERTIES] if known == "tenant.admin" else []
    given = {
        "name": name or email.partition("@")[0],
        "email": email,
        "role": known,
        "properties": usual if properties is None else properties,
    }
    return from_options(InviteOperator, given, _OPTIONS)


def _check_invitation(
    *,
    email: str,
    name: str | None,
    tenant: str | None,
    platform: bool,
    role: str | None,
    property_: list[str] | None,
) -> None:
    _check_side(tenant=tenant, platform=platform)
    _wanted(email, name, role, property_, platform=platform)


@system_command(app, "invite", check=_check_invitation)
async def invite(
    system: "System",
    *,
    email: Annotated[str, typer.Option(help="Their mail, by which they sign in.")],
    name: Annotated[
        str | None, typer.Option(help="What colleagues call them. [default: the mail's first part]")
    ] = None,
    tenant: Tenant = None,
    platform: Platform = False,
    role: Annotated[
        str | None,
        typer.Option(
            help="tenant.admin, tenant.support, tenant.viewer; with --platform platform.channel.admin, platform.support. "
            "[default: tenant.admin, or platform.channel.admin with --platform]"
        ),
    ] = None,
    property_: Property = None,
) -> Output:
    """Invite somebody and print the link by which they join; it is shown this once, and works for 72 hours."""
    wanted = _wanted(email, name, role, property_, platform=platform)
    with named_as(_OPTIONS):
        async with await _side(system, tenant, platform=platform) as tx:
            made, link = await system.backoffice.changer.invite(
                tx, wanted.person(), wanted.rights(), by=_by()
            )
    return _linked(system, made, link, "join_url")


def _line(one: JsonObject) -> str:
    return f"{one['id']}  {one['status']:8}  {one['role']:22}  {shown(one['name'] or 'erased')}  {shown(one['email'] or '')}".rstrip()


@system_command(
    app, "list", text=_line, empty="there are no operators yet; `tidings operator invite` invites one"
)
async def list_(system: "System", *, tenant: Tenant = None, platform: Platform = False) -> list[JsonObject]:
    """List a tenant's operators, or the platform's, the newest first."""
    from tidings.backoffice.desk import OperatorDesk

    desk = system.backoffice.parts.get(OperatorDesk)
    found: list[JsonObject] = []
    async with await _side(system, tenant, platform=platform) as tx:
        while page := await desk.read(tx, after_id=found[-1]["id"] if found else None, limit=_MOST):
            found += [
                {
                    "id": one.operator.id,
                    "status": one.operator.status,
                    "role": one.operator.role,
                    "properties": list(one.operator.properties),
                    "name": one.person.name if one.person else None,
                    "email": one.person.email if one.person else None,
                }
                for one in page
            ]
    return found


def _check_properties(*, who: str, given: list[str] | None, tenant: str | None, platform: bool) -> None:
    _check_one(who=who, tenant=tenant, platform=platform)
    _changed(given)


def _changed(given: list[str] | None) -> "ChangeOperator":
    from tidings.backoffice.api.wire import ChangeOperator

    return from_options(ChangeOperator, {"properties": given or []}, _OPTIONS)


@system_command(app, "properties", check=_check_properties)
async def properties(
    system: "System",
    who: Who,
    *,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--property", metavar="ID", help="May be given again; '*' for every one. [default: none]"
        ),
    ] = None,
    tenant: Tenant = None,
    platform: Platform = False,
) -> Output:
    """Say which properties somebody may see, instead of those before; it counts for their sessions within a second."""
    wanted = _changed(given)
    async with await _side(system, tenant, platform=platform) as tx:
        changer = system.backoffice.changer
        known = await changer.lock(tx, await _find(system, tx, who), by=_by())
        changed = await changer.change_rights(tx, known, wanted.rights(known), by=_by())
    shown_ = ", ".join(changed.properties) or "none"
    return Output({"id": changed.id, "properties": list(changed.properties)}, f"{changed.id}: {shown_}")


@system_command(app, "disable", check=_check_one)
async def disable(system: "System", who: Who, *, tenant: Tenant = None, platform: Platform = False) -> Output:
    """Let somebody in no more; their sessions end within a second."""
    async with await _side(system, tenant, platform=platform) as tx:
        id_ = await _find(system, tx, who)
        await system.backoffice.changer.disable(tx, id_, by=_by())
        await _end_sessions(system, tx, id_)
    return Output({"id": id_}, f"{id_} is disabled")


@system_command(app, "enable", check=_check_one)
async def enable(system: "System", who: Who, *, tenant: Tenant = None, platform: Platform = False) -> Output:
    """Let somebody in again who was disabled."""
    async with await _side(system, tenant, platform=platform) as tx:
        changed = await system.backoffice.changer.enable(tx, await _find(system, tx, who), by=_by())
    return Output({"id": changed.id, "status": changed.status}, f"{changed.id} is {changed.status}")


@system_command(app, "unlock", check=_check_one)
async def unlock(system: "System", who: Who, *, tenant: Tenant = None, platform: Platform = False) -> Output:
    """Let somebody try again who gave too many wrong passwords or codes."""
    async with await _side(system, tenant, platform=platform) as tx:
        changed = await system.backoffice.changer.unlock(tx, await _find(system, tx, who), by=_by())
    return Output({"id": changed.id}, f"{changed.id} is unlocked")


@system_command(app, "reset-mfa", check=_check_one)
async def reset_mfa(
    system: "System", who: Who, *, tenant: Tenant = None, platform: Platform = False
) -> Output:
    """Take password and authenticator away, end all sessions, and print a link by which they begin anew."""
    async with await _side(system, tenant, platform=platform) as tx:
        id_ = await _find(system, tx, who)
        made, link = await system.backoffice.changer.reset(tx, id_, by=_by())
        await _end_sessions(system, tx, id_)
    return _linked(system, made, link, "join_url")


@system_command(app, "link")
async def link(
    system: "System",
    who: Annotated[
        str | None,
        typer.Argument(metavar="[OPERATOR]", help="Their id, oper_…, or their mail. [default: the demo's]"),
    ] = None,
    *,
    tenant: Tenant = None,
    platform: Platform = False,
    data_dir: Path | None,
) -> Output:
    """Print a link that opens the console once, within a quarter of an hour: for the demo's operator, or another who has no password; it is audited."""
    if who is None:
        who, tenant = "operator@demo.example", tenant or "demo"
    _check_one(who=who, tenant=tenant, platform=platform)
    async with await _side(system, tenant, platform=platform) as tx:
        id_ = await _find(system, tx, who)
        made, opens = await system.backoffice.changer.open_link(tx, id_, by=_by())
    return _linked(system, made, opens, "console_url", _running_at(system, data_dir))


def _by() -> "By":
    from tidings.backoffice.operators.change import By

    return By(actor=operator())


async def _side(
    system: "System", tenant: str | None, *, platform: bool
) -> "AbstractAsyncContextManager[TenantTx | PlatformTx]":
    _check_side(tenant=tenant, platform=platform)
    return system.db.scoped(await tenant_or_platform(system, tenant))


async def _find(system: "System", tx: "TenantTx | PlatformTx", who: str) -> "OperatorId":
    from tidings.backoffice.ids import OPERATOR

    if "@" not in who:
        return OPERATOR.parse(who, field="OPERATOR")
    found = await system.backoffice.changer.find(tx, who)
    if found is None:
        raise CommandError("there is no operator with this mail there; `tidings operator list` shows them")
    return found.id


async def _end_sessions(system: "System", tx: "TenantTx | PlatformTx", id_: "OperatorId") -> None:
    await system.backoffice.ender.end(tx, reason="operator_changed", actor=operator(), operator_id=id_)


def _running_at(system: "System", data_dir: Path | None) -> str | None:
    """Where `tidings up` of this data dir is found; its port is its own."""
    if system.kernel.public_url:
        return None
    file = (data_dir or system.settings.data_dir) / "demo.json"
    try:
        found = json.loads(file.read_text())["public_url"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, str) else None


def _linked(
    system: "System", made: "OperatorRecord", link: "MadeLink", field: str, base: str | None = None
) -> Output:
    url = link.url(base or system.backoffice.url.base)
    answer = {"id": made.id, "role": made.role, field: url, "expires_at": link.expires_at}
    until = f"{link.expires_at:%Y-%m-%d %H:%M} UTC"
    return Output(
        answer, [f"{made.id}  {made.role}  (the link works until {until}, and is shown this once)", url]
    )
