"""`tidings up` starts whatever became of the demo's operator, and says why there is no link to the console."""

from tests.support.http import HttpWorld
from tests.support.operators import AtBrowser, Somebody, join
from tidings.backoffice.operators.change import By
from tidings.cli.up import _console
from tidings.notify.tenants.model import Tenant
from tidings.operations.demo import DemoMaker


def maker(world: HttpWorld) -> DemoMaker:
    system = world.system
    return DemoMaker(
        db=system.db,
        tenants=system.access.tenants,
        platform=system.platform_start,
        keys=system.access.keys,
        ledger=system.access.key_ledger,
        operators=system.backoffice.changer,
        clock=system.clock,
    )


async def test_there_is_no_link_for_an_operator_who_was_disabled(world: HttpWorld, tenant: Tenant) -> None:
    demo, changer, by = maker(world), world.system.backoffice.changer, By(actor="test")
    link = await demo.console_link(tenant.id)
    assert not isinstance(link, str)
    at = AtBrowser(world)
    await at.open(link.url(""))
    await at.post(link.url(""))
    assert at.cookie("tidings_session") is not None
    async with world.db.tenant(tenant.id) as tx:
        await changer.disable(tx, link.link.operator_id, by=by)

    refused = await demo.console_link(tenant.id)

    assert refused == "the operator is disabled, and not active"
    said = _console({"public_url": "http://localhost:1", "console_url": None}, refused)
    assert said.startswith("http://localhost:1/console\n")
    assert "disabled" in said
    async with world.db.tenant(tenant.id) as tx:
        await changer.enable(tx, link.link.operator_id, by=by)
    assert not isinstance(await demo.console_link(tenant.id), str)


async def test_there_is_no_link_for_an_operator_who_has_a_password(world: HttpWorld, tenant: Tenant) -> None:
    demo, changer = maker(world), world.system.backoffice.changer
    link = await demo.console_link(tenant.id)
    assert not isinstance(link, str)
    async with world.db.tenant(tenant.id) as tx:
        known, made = await changer.reset(tx, link.link.operator_id, by=By(actor="test"))
    await join(Somebody(known.id, tenant.id, "Demo operator", "operator@demo.example", world), made.url(""))

    refused = await demo.console_link(tenant.id)

    assert isinstance(refused, str)
    assert "has a password" in refused
