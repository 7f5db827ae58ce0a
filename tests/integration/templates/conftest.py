"""The application with templates in it, over the shared database, and a renderer of its own."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from tests.support.http import HttpWorld, http_world
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock, SystemClock
from tidings.kernel.db import Database
from tidings.kernel.outbox import Outbox
from tidings.notify.templates.authoring import Authoring
from tidings.notify.templates.resolve import TemplateResolver


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateWorld:
    """What the tests of templates touch."""

    http: HttpWorld
    db: Database
    clock: Clock
    outbox: Outbox
    audit: AuditLog
    engine: Authoring
    templates: TemplateResolver


@pytest.fixture(scope="session")
async def engine() -> AsyncIterator[Authoring]:
    """The tools of authors; their child process costs more than a test."""
    authoring = Authoring(own_hosts=["tidings.test"])
    yield authoring
    await authoring.close()


@pytest.fixture(scope="session")
async def world(db: Database, engine: Authoring) -> AsyncIterator[TemplateWorld]:
    """The application over the shared database."""
    clock = SystemClock()
    http = http_world(db)
    yield TemplateWorld(
        http=http,
        db=db,
        clock=clock,
        outbox=Outbox("notification"),
        audit=AuditLog("notification", clock),
        engine=engine,
        templates=TemplateResolver(db, clock=clock),
    )
    await http.system.notify.renderer.close()
    await http.system.notify.authoring.close()
