"""Who administers operators, their sessions and the back office's settings is in the hash chain, and the chain is whole."""

from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tidings.kernel.audit.verify import AuditVerifier
from tidings.kernel.db import Database
from tidings.notify.tenants.model import Tenant


async def test_roles_properties_sessions_and_settings_are_in_the_chain(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    clerk = await an_operator(world, tenant.id, role="tenant.viewer", email="clerk", properties=("kabul",))
    for change in ({"role": "tenant.support"}, {"properties": ["kabul", "herat"]}):
        shown = await admin.get(f"/bff/v1/operators/{clerk.who.id}")
        changed = await admin.send(
            "PATCH",
            f"/bff/v1/operators/{clerk.who.id}",
            change,
            attested="operator.change",
            **{"If-Match": shown.headers["etag"]},
        )
        assert changed.status_code == 200, changed.text
    muted = await admin.send("PUT", "/bff/v1/alerts/mutes/device_offline", {"minutes": 60})
    assert muted.status_code == 204, muted.text
    ended = await admin.post(f"/bff/v1/sessions/{clerk.session_id}/revoke", attested="session.force_out")
    assert ended.status_code == 204, ended.text
    forced = await admin.post("/bff/v1/force-logout", {"scope": "tenant"}, attested="session.force_out")
    assert forced.status_code == 200, forced.text

    async with db.tenant(tenant.id) as tx:
        rows = await tx.connection.fetch(
            "SELECT entity_type, action, actor, before, after FROM bff_backoffice.audit ORDER BY occurred_at, seq"
        )
    seen = [(row["entity_type"], row["action"]) for row in rows if row["actor"] == admin.who.id]
    assert seen.count(("operator", "changed")) == 2
    assert ("session", "opened") in seen
    assert {kind for kind, _ in seen} >= {"operator", "session", "alert_mute"}, seen
    told = [(row["before"], row["after"]) for row in rows if row["action"] == "changed"]
    assert '"tenant.viewer"' in told[0][0]
    assert '"tenant.support"' in told[0][1]
    assert '"herat"' in told[1][1]
    verifier = AuditVerifier(db, "bff_backoffice", world.system.kernel.kms)
    assert [one async for one in verifier.findings() if one.tenant_id == tenant.id] == []
