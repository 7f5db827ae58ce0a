"""A file as the list of a batch."""

from tests.integration.batches.arranging import HOME, crowd, write
from tests.support.people import unused
from tests.support.pipeline import PipelineWorld

CSV = {"Content-Type": "text/csv"}


async def test_everybody_in_a_csv_gets_it_once(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        known = await crowd(world, sender.tenant_id, 2)
        word = unused()
        batch = await write(sender, filter=None)
        file = "\n".join(
            [
                "id,identity_type,identity_id,email",
                f"{known[0]},,,",
                f"{known[0]},,,",
                f",guest,{word},{word}@example.test",
                f",,,nameless-{word}@example.test",
                ",,,not an address",
            ]
        )

        uploaded = await sender.client.post(f"{HOME}/{batch.id}/recipients", content=file, headers=CSV)
        await batch.do("start")
        await world.settle()
        await world.advance(seconds=1)

        done = uploaded.json()
        assert (uploaded.status_code, done["lines"], done["refused"]) == (200, 6, 1), done
        assert await batch.totals() == {"people": 3, "sent": 3, "delivered": 3}
        assert known[0] in {line["recipient_id"] for line in await batch.people()}
        assert len(world.received(f"nameless-{word}@example.test")) == 1


async def test_a_filter_narrows_a_list(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        vips = await crowd(world, sender.tenant_id, 3, tags=["vip"])
        others = await crowd(world, sender.tenant_id, 3)
        await crowd(world, sender.tenant_id, 3, tags=["vip"])
        batch = await write(sender, recipients=[*vips, *others])

        preview = await batch.do("dry-run")
        await batch.do("start")
        await world.settle()

        assert preview["count"] == 3
        assert {line["recipient_id"] for line in await batch.people()} == set(vips)


async def test_json_lines_are_a_list_too_and_several_files_are_one(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        ids = await crowd(world, sender.tenant_id, 4)
        batch = await write(sender, filter=None)
        for some in (ids[:3], ids[2:]):
            body = "\n".join(f'{{"id": "{one}"}}' for one in some)
            answer = await sender.client.post(
                f"{HOME}/{batch.id}/recipients",
                content=body,
                headers={"Content-Type": "application/x-ndjson"},
            )
            assert answer.status_code == 200, answer.text

        assert (await batch.do("dry-run"))["count"] == 4


async def test_a_dry_run_lists_nobody(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        [one] = await crowd(world, sender.tenant_id, 1)
        batch = await write(sender, filter=None)

        await sender.client.post(
            f"{HOME}/{batch.id}/recipients?dry_run=true", content=f"id\n{one}\n", headers=CSV
        )

        assert (await batch.post("start")).json()["code"] == "batch_not_ready"


async def test_the_list_of_a_batch_that_runs_stays(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        ids = await crowd(world, sender.tenant_id, 2)
        batch = await write(sender, filter=None, recipients=ids[:1])
        await batch.do("start")

        answer = await sender.client.post(
            f"{HOME}/{batch.id}/recipients", content=f"id\n{ids[1]}\n", headers=CSV
        )

        assert (answer.status_code, answer.json()["code"]) == (409, "batch_state")
