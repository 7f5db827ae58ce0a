"""A list with columns beside the address: each person gets words of their own."""

import asyncio
import io
import json
import zipfile
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from tests.integration.batches.arranging import HOME, Written, crowd, write
from tests.integration.batches.test_controlling import small_chunks
from tests.integration.erasure.somebody import erase
from tests.support.people import unused
from tests.support.pipeline import ORDERED, PipelineWorld
from tidings.kernel.keys.data_key import DestroyedKeyError
from tidings.notify.batches.store import sweep_ledgers
from tidings.notify.recipients.model import LIST_VARIABLES_PURPOSE

CSV = {"Content-Type": "text/csv"}
JSON_LINES = {"Content-Type": "application/x-ndjson"}
#: What the template needs, but for the number.
REST = {name: value for name, value in ORDERED.items() if name != "order_number"}


async def upload(
    batch: Written, *lines: str, headers: dict[str, str] | None = None, **query: str
) -> dict[str, Any]:
    """What the import answers."""
    answer = await batch.sender.client.post(
        f"{HOME}/{batch.id}/recipients", content="\n".join(lines), headers=headers or CSV, params=query
    )
    assert answer.status_code == 200, answer.text
    done: dict[str, Any] = answer.json()
    return done


async def subjects(world: PipelineWorld, *mails: str) -> list[str]:
    """What each got, as the vendor has it."""
    return [str(one) for mail in mails for one in world.received(mail)]


async def test_everybody_gets_the_words_of_their_line(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        word = unused()
        mails = [f"{name}-{word}@example.test" for name in ("laila", "omid")]
        batch = await write(sender, filter=None, variables=REST)

        done = await upload(
            batch,
            "email,locale,order_number,total.amount_micros",
            f"{mails[0]},fr,A-7,1000000",
            f"{mails[1]},,B-8,",
        )
        dry = await batch.do("dry-run")
        await batch.do("start")
        await world.settle()
        await world.advance(seconds=1)

        assert (done["refused"], done["added"]) == (0, 2), done
        assert dry["problems"] == []
        assert [one["problems"] for one in dry["sample"]] == [[], []]
        assert await batch.totals() == {"people": 2, "sent": 2, "delivered": 2}
        first, second = await subjects(world, *mails)
        assert "A-7" in first
        assert "B-8" not in first
        assert "B-8" in second
        # A column that leads into an object leaves the rest of it.
        assert "42.50" in second
        assert "42.50" not in first
        [laila] = await sender.rows(
            "SELECT primary_locale FROM notification.recipients WHERE tenant_id = $1 AND primary_locale = 'fr'",
            sender.tenant_id,
        )
        assert laila["primary_locale"] == "fr"


async def test_each_line_is_held_against_the_template(world: PipelineWorld) -> None:
    """By line, column and remedy; what stood there is told nowhere."""
    async with world.sender() as sender:
        ids = await crowd(world, sender.tenant_id, 4)
        batch = await write(sender, filter=None, variables=REST)

        done = await upload(
            batch,
            "id,order_number,total.amount_micros",
            f"{ids[0]},A-1,5",
            f"{ids[1]},,5",
            f"{ids[2]},A-3,secret",
            "somebody,A-4,5",
        )
        answer = await sender.client.get(f"/api/v1/imports/{done['id']}/report")

        assert (done["lines"], done["refused"]) == (5, 3)
        assert "3,order_number,variable_missing" in answer.text
        assert "4,total.amount_micros,bad_variable" in answer.text
        assert "must be a whole number" in answer.text
        assert "5,id," in answer.text
        assert "secret" not in answer.text
        assert (await batch.do("dry-run"))["count"] == 1


async def test_a_file_without_a_column_that_the_template_needs_is_refused_whole(
    world: PipelineWorld,
) -> None:
    async with world.sender() as sender:
        [one] = await crowd(world, sender.tenant_id, 1)
        batch = await write(sender, filter=None, variables={})
        path = f"{HOME}/{batch.id}/recipients"

        lacks = await sender.client.post(path, content=f"id,order_number\n{one},A-1\n", headers=CSV)
        typo = await sender.client.post(path, content=f"id,oder_number\n{one},A-1\n", headers=CSV)
        undeclared = await sender.client.post(
            path, content=f"id,variables.oder_number\n{one},A-1\n", headers=CSV
        )

        assert lacks.status_code == 400
        assert "a column for each variable that the template needs" in lacks.text
        assert "items, total" in lacks.text
        assert "in column 2" in typo.text
        assert "in column 2" in undeclared.text


async def test_json_lines_have_their_variables_in_an_object(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        word = unused()
        mails = [f"{word}-{number}@example.test" for number in range(2)]
        batch = await write(sender, filter=None, variables=REST)
        lines = [
            {
                "addresses": [{"channel": "email", "address": mail}],
                "variables": {"order_number": f"N-{number}"},
            }
            for number, mail in enumerate(mails)
        ]

        done = await upload(
            batch, *map(json.dumps, lines), json.dumps({**lines[0], "variables": 7}), headers=JSON_LINES
        )
        await batch.do("start")
        await world.settle()

        assert done["refused"] == 1
        first, second = await subjects(world, *mails)
        assert ("N-0" in first, "N-1" in second) == (True, True)


async def test_a_later_line_takes_the_place_of_what_was_said_before(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        mail = f"{unused()}@example.test"
        batch = await write(sender, filter=None, variables=REST)

        await upload(batch, "email,order_number", f"{mail},OLD-1", f"{mail},OLD-2")
        await upload(batch, "email,order_number", f"{mail},NEW-3")
        await upload(batch, "email,variables.order_number,tags", f"{mail},NEW-4,vip")
        await batch.do("start")
        await world.settle()

        [got] = await subjects(world, mail)
        assert "NEW-4" in got
        assert await batch.totals() == {"people": 1, "sent": 1, "delivered": 1}


async def test_whoever_has_none_is_shown_and_refused_alone(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        mail = f"{unused()}@example.test"
        [bare] = await crowd(world, sender.tenant_id, 1)
        batch = await write(sender, filter=None, variables=REST)
        await upload(batch, "email,order_number", f"{mail},A-1")
        # A file for another draft that had a number: this one's words need it.
        await upload(
            batch, json.dumps({"id": bare, "variables": {"order_number": "A-2"}}), headers=JSON_LINES
        )
        await sender.rows(
            "UPDATE notification.batch_list SET variables_ciphertext = NULL WHERE recipient_id = $1", bare
        )

        dry = await batch.do("dry-run")
        await batch.do("start")
        await world.settle()
        await world.advance(seconds=1)

        shown = {one["recipient_id"]: one["problems"] for one in dry["sample"]}
        assert shown[bare] == ["variables.order_number is required"]
        assert dry["problems"] == ["1 on the list have no variables of their own"]
        lines = {line["recipient_id"]: line for line in await batch.people()}
        assert (lines[bare]["state"], lines[bare]["reason"]) == ("refused", "invalid_variables")
        assert await batch.totals() == {"people": 2, "sent": 1, "delivered": 1, "failed": 1, "refused": 1}


async def test_a_draft_that_is_changed_while_a_file_is_read_takes_no_more_of_it(
    world: PipelineWorld,
) -> None:
    """Its lines were held against other words."""
    async with world.sender() as sender:
        ids = await crowd(world, sender.tenant_id, 2_500)
        batch = await write(sender, filter=None, variables=REST)
        known = await sender.client.get(f"{HOME}/{batch.id}")

        async def body() -> AsyncIterator[bytes]:
            yield b"id,order_number\n" + b"".join(f"{id_},A-1\n".encode() for id_ in ids[:2_100])
            # The first set is written now.
            wish = {"name": "x", "template": "order_confirmation", "channel": "email", "variables": ORDERED}
            while (await sender.client.get(f"{HOME}/{batch.id}")).headers["etag"] == known.headers["etag"]:
                await asyncio.sleep(0.01)
            etag = (await sender.client.get(f"{HOME}/{batch.id}")).headers["etag"]
            changed = await sender.client.put(f"{HOME}/{batch.id}", json=wish, headers={"If-Match": etag})
            assert changed.status_code == 200, changed.text
            yield b"".join(f"{id_},A-1\n".encode() for id_ in ids[2_100:])

        answer = await sender.client.post(f"{HOME}/{batch.id}/recipients", content=body(), headers=CSV)

        assert (answer.status_code, answer.json()["code"]) == (409, "batch_state")
        assert "send the file again" in answer.text
        assert (await batch.do("dry-run"))["count"] == 2_000


async def test_a_batch_that_lacks_what_no_list_brings_does_not_start(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        ids = await crowd(world, sender.tenant_id, 1)
        nobody = await write(sender, filter=None, variables={})
        batch = await write(sender, filter=None)
        await upload(batch, "id,order_number", f"{ids[0]},A-1")
        known = await sender.client.get(f"{HOME}/{batch.id}")

        changed = await sender.client.put(
            f"{HOME}/{batch.id}",
            json={"name": "x", "template": "order_confirmation", "channel": "email", "variables": {}},
            headers={"If-Match": known.headers["etag"]},
        )

        assert changed.status_code == 400
        assert {one["field"] for one in changed.json()["errors"]} == {"variables.total", "variables.items"}
        assert (await nobody.post("start")).json()["code"] == "batch_not_ready"


async def test_an_erasure_reaches_what_a_list_says(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        ids = await crowd(world, sender.tenant_id, 2)
        batch = await write(sender, filter=None, variables=REST, local_time="03:00")
        await upload(batch, "id,order_number", *(f"{id_},VOUCHER-{id_}" for id_ in ids))
        [kept] = await sender.rows(
            "SELECT variables_ciphertext AS box FROM notification.batch_list WHERE recipient_id = $1", ids[0]
        )
        await batch.do("start")
        await world.settle()

        await erase(sender, ids[0])
        for _ in range(5):
            await world.advance(hours=6)

        assert b"VOUCHER" not in kept["box"]
        async with world.db.tenant(sender.tenant_id) as tx:
            keys = await world.system.batches.runner.keyring.data_keys(tx, [ids[0]], create=False)
            with pytest.raises(DestroyedKeyError):
                keys[ids[0]].unseal(kept["box"], LIST_VARIABLES_PURPOSE)
        lines = {line["recipient_id"]: line["state"] for line in await batch.people()}
        assert lines == {ids[0]: "refused", ids[1]: "delivered"}


async def test_a_line_that_goes_down_for_ever_costs_itself_alone(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        ids = await crowd(world, sender.tenant_id, 2)
        batch = await write(sender, filter=None, variables=REST)
        for depth in (50, 150, 300, 600, 900, 1_200, 5_000):
            deep = '{"a":' * depth + "1" + "}" * depth

            done = await upload(
                batch,
                f'{{"id": "{ids[0]}", "variables": {{"order_number": "A-1", "items": {deep}}}}}',
                f'{{"id": "{ids[1]}", "variables": {{"order_number": "A-2"}}}}',
                headers=JSON_LINES,
            )

            assert (done["lines"], done["refused"]) == (2, 1), depth


async def test_their_archive_shows_what_lists_say_of_them(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        ids = await crowd(world, sender.tenant_id, 2)
        batch = await write(sender, filter=None, variables=REST)
        bare = await write(sender, filter=None, recipients=ids)
        await upload(batch, "id,order_number", *(f"{id_},OWN-{id_}" for id_ in ids))

        answer = await sender.client.post(f"/api/v1/recipients/{ids[0]}/export")

        archive = zipfile.ZipFile(io.BytesIO(answer.content))
        listed = [json.loads(line) for line in archive.read("batches.jsonl").splitlines()]
        assert {one["batch_id"]: one["variables"] for one in listed} == {
            bare.id: None,
            batch.id: {"order_number": f"OWN-{ids[0]}"},
        }
        assert {one["name"] for one in listed} == {"Spring"}


async def test_a_clone_has_the_same_words(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        mail = f"{unused()}@example.test"
        first = await write(sender, filter=None, variables=REST)
        await upload(first, "email,order_number", f"{mail},CLONED-1")
        clone = Written(sender, (await first.do("clone"))["id"])

        await clone.do("start")
        await world.settle()

        [got] = await subjects(world, mail)
        assert "CLONED-1" in got


async def test_planned_people_get_their_words_too(world: PipelineWorld) -> None:
    small_chunks(world.system)
    async with world.sender() as sender:
        word = unused()
        mails = [f"{word}-{number}@slow.test" for number in range(12)]
        batch = await write(sender, filter=None, variables=REST, pacing={"domains": {"slow.test": 600}})
        await upload(batch, "email,order_number", *(f"{mail},P-{n}-P" for n, mail in enumerate(mails)))
        await batch.do("start")

        for _ in range(5):
            await world.advance(seconds=2)

        got = await subjects(world, *mails)
        assert [f"P-{n}-P" in text for n, text in enumerate(got)] == [True] * 12
    small_chunks(world.system)


async def test_words_go_with_the_ledger(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        ids = await crowd(world, sender.tenant_id, 2)
        batch = await write(sender, filter=None, variables=REST)
        await upload(batch, "id,order_number", *(f"{id_},A-1" for id_ in ids))
        await batch.do("start")
        await world.settle()
        await world.advance(seconds=1)

        async with world.db.worker() as tx:
            await sweep_ledgers(tx, now=world.clock.now() + timedelta(days=401), limit=10_000)

        left = await sender.rows(
            "SELECT count(*) AS n FROM notification.batch_list WHERE tenant_id = $1 AND batch_id = $2",
            sender.tenant_id,
            batch.id,
        )
        assert left == [{"n": 0}]


async def test_a_test_of_a_batch_has_variables_of_its_own(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        mail = f"{unused()}@example.test"
        batch = await write(sender, filter=None, variables=REST)
        to = [{"addresses": [{"channel": "email", "address": mail}]}]

        bare = await batch.post("test", recipients=to)
        await batch.do("test", recipients=to, variables={"order_number": "TRY-1"})
        await world.settle()

        assert "order_number" in bare.text
        [got] = await subjects(world, mail)
        assert "TRY-1" in got
