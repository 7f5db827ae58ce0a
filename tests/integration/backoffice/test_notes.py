"""Notes are kept sealed beside what they are about, each as long as its ledger."""

from datetime import timedelta

from tests.support.clock import ManualClock
from tests.support.http import HttpWorld
from tidings.backoffice.notes.model import NewNote, NoteKind
from tidings.backoffice.notes.notes import Notes
from tidings.backoffice.notes.sealed_words import SealedWords
from tidings.kernel.db import Database
from tidings.notify.tenants.model import Tenant


def a_note(text: str, kind: NoteKind = "alert_ack") -> NewNote:
    return NewNote(kind=kind, about_id="alert_1", property_id="kabul", written_by="oper_1", text=text)


async def test_a_note_is_sealed_and_read_back(world: HttpWorld, tenant: Tenant, db: Database) -> None:
    notes = world.system.backoffice.parts.get(Notes)
    async with db.tenant(tenant.id) as tx:
        first, none, second = await notes.write(
            tx, [a_note("call 0700 123 456"), a_note(" "), a_note("b" * 999)]
        )

    assert none is None
    async with db.tenant(tenant.id) as tx:
        assert await notes.texts(tx, [first, None, second]) == {first: "call 0700 123 456", second: "b" * 200}
        rows = await tx.connection.fetch("SELECT * FROM bff_backoffice.notes ORDER BY id")
    assert b"0700" not in b"".join(row["text_ciphertext"] for row in rows)
    other = await world.tenant()
    async with db.tenant(other.id) as tx:
        assert await notes.texts(tx, [first]) == {}


async def test_a_box_opens_for_its_own_row_alone(world: HttpWorld, tenant: Tenant, db: Database) -> None:
    words = world.system.backoffice.parts.get(SealedWords)
    async with db.tenant(tenant.id) as tx:
        boxes = await words.seal(tx, "ai_decision_log.provenance", {"sdl_1": '{"model":"m"}'})

        assert await words.open(tx, "ai_decision_log.provenance", {**boxes, "sdl_2": None}) == {
            "sdl_1": '{"model":"m"}'
        }
        assert await words.open(tx, "ai_decision_log.provenance", {"sdl_2": boxes["sdl_1"]}) == {}
        assert await words.open(tx, "ai_decision_log.modified_delta", boxes) == {}


async def test_notes_go_with_their_ledger(world: HttpWorld, tenant: Tenant, db: Database) -> None:
    """Of an acknowledgement after a year, of an AI decision after seven."""
    notes = world.system.backoffice.parts.get(Notes)
    sweep = world.system.backoffice.sweeps()["operator_notes"]
    assert isinstance(world.clock, ManualClock)
    async with db.tenant(tenant.id) as tx:
        ids = await notes.write(tx, [a_note("short"), a_note("long", "ai_decision")])

    async def kept() -> list[str]:
        await sweep(10_000)
        async with db.tenant(tenant.id) as tx:
            return sorted((await notes.texts(tx, ids)).values())

    await world.clock.advance(timedelta(days=364))
    assert await kept() == ["long", "short"]
    await world.clock.advance(timedelta(days=2))
    assert await kept() == ["long"]
    await world.clock.advance(timedelta(days=7 * 365))
    assert await kept() == []
