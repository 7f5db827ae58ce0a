"""What is published, started or cancelled, whoever did it, waits for no approval any more."""

from tests.integration.templates.drafts import draft
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn
from tidings.backoffice.approvals.hear import SUBJECTS, ApprovalHearer
from tidings.contracts.batches import BatchMoved
from tidings.contracts.events import EVENTS
from tidings.contracts.templates import TemplatePublished
from tidings.kernel.events import new_event
from tidings.notify.tenants.model import Tenant

API = "/api/v1/templates/welcome/email/versions"
PAGE = "/console/templates/welcome/email/versions/1.0.0"


async def open_alerts(who: SignedIn) -> list[str]:
    found = (await who.get("/bff/v1/alerts?status=open")).json()["items"]
    return sorted(str(one["category"]) for one in found)


async def test_a_draft_that_a_key_publishes_waits_no_longer(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    await admin.post(API, draft())
    version = (await admin.get(f"{API}/1.0.0")).json()
    await admin.browser.open(PAGE)
    await admin.browser.post(f"{PAGE}/save", do="ask", version="1")
    assert await open_alerts(admin) == ["template_approval"]

    hearer = world.system.backoffice.parts.get(ApprovalHearer)
    told = TemplatePublished(
        template_id=version["template_id"],
        key="welcome",
        channel="email",
        version_id=version["id"],
        semver="1.0.0",
        locales=("en",),
    )
    other = BatchMoved(
        batch_id="dbt_1", status="running", template_key="welcome", channel="email", category="transactional"
    )
    events = [
        new_event(subject, told_, tenant_id=tenant.id, ordering_key="x", source="/notify", clock=world.clock)
        for subject, told_ in (("template.published.v1", told), ("batch.started.v1", other))
    ]
    for _ in range(2):
        async with world.db.tenant(tenant.id) as tx:
            await hearer.handle(tx, events)
    assert await open_alerts(admin) == []


def test_it_hears_events_that_there_are() -> None:
    assert set(SUBJECTS) <= set(EVENTS)
