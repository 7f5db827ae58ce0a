"""What the back office keeps for a while goes when its time is over; each sweep is counted by its name."""

from datetime import timedelta

from tests.support.clock import ManualClock
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, invited
from tidings.kernel.durable.sweepers import SweepJob
from tidings.notify.tenants.model import Tenant


async def test_links_that_nobody_used_are_forgotten_a_month_after_their_end(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    """Who was invited by one stays invited, and gets another."""
    clock, sweep = world.clock, world.system.backoffice.sweeps()["operator_links"]
    assert isinstance(clock, ManualClock)
    late, _ = await invited(world, tenant.id, email="late")

    await clock.advance(timedelta(days=32))
    await sweep(10_000)
    assert (await late.row()).link_kind == "join"
    await clock.advance(timedelta(days=2))
    await sweep(10_000)

    row = await late.row()
    assert (row.status, row.link_hash, row.link_kind, row.link_expires_at) == ("invited", None, None, None)
    admin = await admin.who.sign_in()
    again = await admin.post(f"/bff/v1/operators/{late.id}/invite", attested="operator.invite")
    assert again.status_code in (200, 201), again.text


async def test_every_sweep_of_the_back_office_runs_and_is_counted(world: HttpWorld, admin: SignedIn) -> None:
    """Sessions, attestations, devices, keys of requests, consumed events, hints, invitations, notes, and the others."""
    system = world.system
    sweeps = {**system.kernel.sweeps(), **system.backoffice.sweeps()}
    assert sweeps.keys() >= {
        "idempotency_keys",
        "consumed_events",
        "operator_sessions",
        "operator_attestations",
        "operator_devices",
        "operator_links",
        "operator_notes",
        "offline_hints",
        "operator_announcements",
        "alerts",
    }
    job = SweepJob(sweeps, every=timedelta(hours=1), metrics=system.kernel.metrics)
    assert isinstance(world.clock, ManualClock)
    await admin.attest("operator.invite")
    await world.clock.advance(timedelta(days=40))

    swept = await job.run_once()

    assert swept["operator_attestations"] >= 1
    text = system.kernel.metrics.render().decode()
    for name in sweeps:
        assert f'tidings_swept_rows_total{{sweeper="{name}"}}' in text
        assert f'tidings_job_failures_total{{job="sweep_{name}"}}' not in text
