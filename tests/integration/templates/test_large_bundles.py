"""A zip of many templates: as many statements as one of few, and the validator looks at all of them or says which it did not."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from tests.integration.templates.conftest import TemplateWorld
from tests.support.bundles import facts
from tests.support.clock import ManualClock
from tests.support.pictures import GIF, png
from tests.support.statements import Asked, counting
from tidings.kernel.clock import Clock, SystemClock
from tidings.kernel.ids import TenantId
from tidings.notify.templates import validate
from tidings.notify.templates.authoring import Authoring, TenantAuthoring
from tidings.notify.templates.bundle.archive import UnpackedFiles
from tidings.notify.templates.bundle.check import SECONDS
from tidings.notify.templates.bundle.errors import BundleRefusedError
from tidings.notify.templates.bundle.import_bundle import ImportResult, import_bundle
from tidings.notify.templates.bundle.read import read_bundle
from tidings.notify.templates.bundle.wire import report_of


def many(count: int, text: str = "Hello {{name}}", **changes: Any) -> dict[str, bytes]:
    """The files of so many templates."""
    files: dict[str, bytes] = {}
    for n in range(count):
        home = f"templates/key{n:03}/sms"
        files[f"{home}/template.json"] = json.dumps(facts(**changes)).encode()
        files[f"{home}/en/body.txt"] = f"{text}\n".encode()
    return files


def with_pictures(count: int, picture: bytes) -> dict[str, bytes]:
    """The same as mails, each with a picture that it shows."""
    files: dict[str, bytes] = {}
    for n in range(count):
        home = f"templates/key{n:03}/email"
        files[f"{home}/template.json"] = json.dumps(facts()).encode()
        files[f"{home}/en/subject.txt"] = b"Hello {{name}}\n"
        files[f"{home}/en/body.html"] = b'<p>{{name}}</p><img src="cid:logo.png" alt="">\n'
        files[f"{home}/assets/logo.png"] = picture
        files[f"{home}/assets/{len(picture)}.png"] = picture
    return files


@dataclass(slots=True, kw_only=True)
class Taker:
    """Takes files for one tenant, and counts what that asks of the database."""

    world: TemplateWorld
    tenant_id: TenantId
    asked: Asked | None = None

    async def take(
        self,
        files: Mapping[str, bytes],
        *,
        dry_run: bool = False,
        engine: TenantAuthoring | None = None,
        clock: Clock | None = None,
        seconds: float = SECONDS,
    ) -> ImportResult:
        world = self.world
        with counting(world.db) as self.asked:
            return await import_bundle(
                lambda: world.db.tenant(self.tenant_id),
                read_bundle(files),
                dry_run=dry_run,
                actor="test",
                own_hosts=["tidings.test"],
                engine=engine or world.engine.of(None),
                audit=world.audit,
                clock=clock or world.clock,
                seconds=seconds,
            )

    @property
    def statements(self) -> int:
        assert self.asked is not None
        return self.asked.statements


async def taker(world: TemplateWorld) -> Taker:
    """For a tenant that has nothing yet."""
    return Taker(world=world, tenant_id=(await world.http.tenant()).id)


async def test_many_take_as_many_statements_as_few(world: TemplateWorld) -> None:
    layouts = {"layouts/house.hbs": b"<p>house</p>\n"}
    counts: list[list[int]] = []
    for size in (2, 40):
        person = await taker(world)
        of_this: list[int] = []
        for files, outcome in (
            (many(size) | layouts, "created"),
            (many(size), "unchanged"),
            (many(size, "Bye {{name}}") | {"layouts/house.hbs": b"<p>new</p>\n"}, "replaced"),
            (many(size, semver="1.1.0"), "created"),
        ):
            done = await person.take(files)
            assert [one.outcome for one in done.taken] == [outcome] * size
            of_this.append(person.statements)
        counts.append(of_this)

    assert counts[0] == counts[1]
    assert max(counts[0]) <= 16


async def test_pictures_are_written_and_replaced_as_a_set(world: TemplateWorld) -> None:
    counts: list[list[int]] = []
    for size in (2, 12):
        person = await taker(world)
        of_this: list[int] = []
        for picture in (png(500), GIF):
            await person.take(with_pictures(size, picture))
            of_this.append(person.statements)
        counts.append(of_this)
    async with world.http.as_tenant(person.tenant_id) as client:
        shown = await client.get("/api/v1/templates/key011/email/versions/1.0.0/assets/logo.png")
        version = await client.get("/api/v1/templates/key011/email/versions/1.0.0")
    kept = await _count(world, person.tenant_id, "template_assets")

    assert counts[0] == counts[1]
    assert shown.content == GIF
    assert {asset["name"] for asset in version.json()["assets"]} == {"logo.png", f"{len(GIF)}.png"}
    assert kept == 12 * 2, "those that the files do not have any more are gone"


async def test_what_stands_in_the_way_of_some_is_told_of_each_and_nothing_is_written(
    world: TemplateWorld,
) -> None:
    """An unknown category, one that is missing and one that differs, each in its folder and in their order."""
    person = await taker(world)
    await person.take(many(2))
    files = many(6, "Other {{name}}")
    changes: dict[int, dict[str, Any]] = {
        1: {"category": "marketing"},
        3: {"category": "no_such"},
        4: {"category": None},
    }
    for n, change in changes.items():
        said = {name: value for name, value in (facts() | change).items() if value is not None}
        files[f"templates/key{n:03}/sms/template.json"] = json.dumps(said).encode()

    with pytest.raises(BundleRefusedError) as refused:
        await person.take(files)
    trial = await person.take(files, dry_run=True)

    found = [(finding.file, finding.field) for finding in refused.value.extensions["report"]]
    assert found == [(f"templates/key{n:03}/sms/template.json", "category") for n in (1, 3, 4)]
    assert [(finding.file, finding.field) for finding in trial.findings] == found
    assert [(one.template.key, one.outcome) for one in trial.taken] == [
        ("key000", "replaced"), ("key002", "created"), ("key005", "created"),
    ]  # fmt: skip
    assert await _count(world, person.tenant_id, "template_versions") == 2


async def test_the_validator_looks_at_every_draft(world: TemplateWorld) -> None:
    files = many(45) | {"templates/key044/sms/en/body.txt": b"Hello {{nmae}}\n"}
    person = await taker(world)

    done = await person.take(files)

    assert done.unreached == 0
    wrong = [(found.file, found.severity) for found in done.checked if "nmae" in found.what]
    assert wrong == [("templates/key044/sms/en/body.txt", "error")]


class _SlowEngine(TenantAuthoring):
    """The tools of authors, on a clock that goes on by a second with every version they read."""

    def __init__(self, engine: Authoring, clock: ManualClock) -> None:
        super().__init__(engine, "")
        self._clock = clock

    async def validate(self, asked: validate.ValidationRequest) -> validate.ValidationReport:
        await self._clock.advance(timedelta(seconds=1))
        return await super().validate(asked)


async def test_what_the_validator_does_not_reach_is_told(world: TemplateWorld) -> None:
    """The drafts are there all the same; the report names each folder and does not call them publishable."""
    clock = ManualClock(SystemClock().now())
    person = await taker(world)
    files = many(8)

    done = await person.take(files, engine=_SlowEngine(world.engine, clock), clock=clock, seconds=5.0)

    report = report_of(UnpackedFiles(files=files, ignored=(), findings=()), done, dry_run=False)
    untold = [found for found in report.findings if "not looked at" in found.what]
    assert (len(done.taken), done.unreached) == (8, 3)
    assert [(found.file, found.severity) for found in untold] == [
        (f"templates/key00{n}/sms/template.json", "warning") for n in (5, 6, 7)
    ]
    assert "5 seconds" in untold[0].what
    assert report.publishable is False
    assert await _count(world, person.tenant_id, "template_versions") == 8


async def test_who_has_no_time_left_for_checks_has_the_drafts_and_is_told_so(world: TemplateWorld) -> None:
    """They are written by then: an answer of 429 would say that nothing was done."""
    person = await taker(world)
    world.engine.budget.charge(person.tenant_id, 60.0)

    done = await person.take(many(2), engine=world.engine.of(person.tenant_id))

    assert (len(done.taken), done.unreached) == (2, 2)
    assert [found.severity for found in done.checked] == ["warning"] * 2
    assert "seconds of processor time" in done.checked[0].what
    assert await _count(world, person.tenant_id, "template_versions") == 2


async def _count(world: TemplateWorld, tenant_id: TenantId, table: str) -> int:
    async with world.db.tenant(tenant_id) as tx:
        found: int = await tx.connection.fetchval(f"SELECT count(*) FROM notification.{table}")
    return found
