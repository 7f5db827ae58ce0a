"""Notes are kept sealed beside what they are about, each as long as its ledger."""

from datetime import timedelta

from tests.support.clock import ManualClock
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
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


async def test_a_steward_reads_and_redacts_and_the_audit_says_so(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    notes = world.system.backoffice.parts.get(Notes)
    async with db.tenant(tenant.id) as tx:
        [first, second] = await notes.write(
            tx, [a_note("guest is Mrs Karimi"), a_note("all well", "ai_decision")]
        )

    listed = (await admin.get("/bff/v1/notes")).json()["items"]
    assert {(one["id"], one["text"]) for one in listed} == {
        (first, "guest is Mrs Karimi"),
        (second, "all well"),
    }
    assert [one["id"] for one in (await admin.get("/bff/v1/notes?kind=ai_decision")).json()["items"]] == [
        second
    ]
    bare = await admin.post(f"/bff/v1/notes/{first}/redact")
    assert bare.json()["code"] == "attestation_required"
    redacted = await admin.post(f"/bff/v1/notes/{first}/redact", attested="note.redact")
    assert (redacted.status_code, redacted.json()["text"]) == (200, None)
    again = await admin.post(f"/bff/v1/notes/{first}/redact", attested="note.redact")
    assert (again.status_code, again.json()["code"]) == (404, "note_not_found")

    async with db.tenant(tenant.id) as tx:
        row = await tx.connection.fetchrow("SELECT * FROM bff_backoffice.notes WHERE id = $1", first)
        rows = await world.system.kernel.backoffice_audit.read_recent(tx, entity_type="note")
        assert await notes.texts(tx, [first, second]) == {second: "all well"}
    assert (row["text_ciphertext"], row["redacted_by"]) == (None, admin.who.id)
    assert [(one.action, one.entity_id, one.actor) for one in rows] == [("redacted", first, admin.who.id)]


async def test_notes_are_read_by_stewards_of_their_property_alone(
    world: HttpWorld, tenant: Tenant, db: Database
) -> None:
    notes = world.system.backoffice.parts.get(Notes)
    async with db.tenant(tenant.id) as tx:
        [id_] = await notes.write(tx, [a_note("of Kabul")])
    elsewhere = await an_operator(world, tenant.id, email="h", properties=("herat",))
    support = await an_operator(world, tenant.id, email="s", role="tenant.support")
    other = await an_operator(world, (await world.tenant()).id)

    assert (await elsewhere.get("/bff/v1/notes")).json()["items"] == []
    refused = await elsewhere.post(f"/bff/v1/notes/{id_}/redact", attested="note.redact")
    assert refused.json()["code"] == "note_not_found"
    assert (await support.get("/bff/v1/notes")).json()["code"] == "missing_scope"
    assert (await other.get("/bff/v1/notes")).json()["items"] == []
