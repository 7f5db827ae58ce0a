"""The platform's templates that a test needs, and no others."""

from tests.support.http import HttpWorld
from tidings.notify.templates import store
from tidings.notify.templates.create_version import create_version
from tidings.notify.templates.platform.files import read_set
from tidings.notify.templates.publish import TemplatePublisher


async def publish_platform_template(world: HttpWorld, key: str) -> None:
    """One of the platform's templates alone: all of them take ten seconds."""
    notify = world.system.notify
    publisher, engine = notify.parts.get(TemplatePublisher), notify.authoring.of(None)
    for wanted in read_set():
        if wanted.key != key:
            continue
        async with world.db.platform() as tx:
            if await store.find_template(tx, wanted.name) is not None:
                continue
            await create_version(
                tx, wanted.name, wanted.spec, actor="tidings", audit=publisher.audit, clock=publisher.clock
            )
        await publisher.publish(world.db.platform, wanted.name, actor="tidings", engine=engine)
