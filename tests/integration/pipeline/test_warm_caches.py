"""A process that is warm looks up no settings when tenants are first served by it."""

from typing import Any, Final

from tests.integration.templates.drafts import draft
from tests.support.http import http_over
from tests.support.people import unused
from tests.support.pipeline import HOME, PipelineWorld, Sender, order
from tests.support.statements import Asked, counting
from tidings.bootstrap import System
from tidings.bootstrap.warm_up import cache_warmer

#: What says nothing but how a tenant is set up.
_SETTINGS: Final = (
    "notification.api_keys",
    "notification.templates",
    "notification.template_versions",
    "purpose = 'pepper'",
    "chan.channel_adapter_configs",
    "chan.fallback_policies",
)


def _looked_up(asked: Asked) -> list[str]:
    """The settings that statements were about, and the transactions of the platform, which are for nothing else."""
    found = [name for text in asked.texts for name in _SETTINGS if name in text]
    return [*found, *(text for text in asked.texts if "ROLE tidings_platform" in text)]


async def _sent(process: System, senders: list[Sender]) -> Asked:
    """Have the process accept and send one of each, and count what it asks."""
    http = http_over(process)
    with counting(process.db) as asked:
        async with http.client() as client:
            for sender in senders:
                carried = {"Authorization": sender.client.headers["Authorization"]}
                answer = await client.post(HOME, json=_order(), headers=carried)
                assert answer.status_code == 202, answer.text
        assert await process.dispatch.job.drain() == len(senders)
    return asked


def _order() -> dict[str, Any]:
    return order(f"{unused()}@example.test", template="own", variables={"name": "Laila"})


async def test_a_warm_process_looks_up_no_settings(world: PipelineWorld) -> None:
    async with world.sender() as one, world.sender() as other:
        senders = [one, other]
        for sender in senders:
            versions = "/api/v1/templates/own/email/versions"
            await sender.client.post(versions, json=draft())
            published = await sender.client.post(f"{versions}/1.0.0/publish")
            assert published.status_code == 200, published.text
        await world.system.access.last_used.flush()

        async with world.another_worker() as cold:
            await cold.notify.categories.all()
            looked_up = _looked_up(await _sent(cold, senders))
        async with world.another_worker() as warm:
            await warm.notify.categories.all()
            warmed = await cache_warmer(warm, {"api", "jobs"}).warm()
            asked = await _sent(warm, senders)

    assert warmed >= len(senders)
    assert set(_SETTINGS) <= set(looked_up)
    assert _looked_up(asked) == [], asked.texts
