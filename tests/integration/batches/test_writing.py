"""Drafts: written, changed, copied, tried out and approved."""

from typing import Any

import pytest

from tests.integration.batches.arranging import HOME, Written, crowd, wish, write
from tests.support.people import unused
from tests.support.pipeline import PipelineWorld
from tidings.contracts.tenants import NotificationPolicy


@pytest.mark.parametrize(
    ("wrong", "field", "says"),
    [
        ({"template": "no_such"}, "template", "must be the key of a template"),
        ({"variables": {}}, "variables.order_number", ""),
        ({"category": "no_such"}, "category", "must be one of"),
        ({"priority": "critical"}, "priority", ""),
        ({"filter": "tag ="}, "filter", "expected a text"),
        ({"scheduled_for": "2020-01-01T00:00:00Z"}, "scheduled_for", "must not be in the past"),
        ({"window": {"start": "09:00", "end": "09:00"}}, "window.end", "must differ"),
        ({"window": {"start": "9", "end": "10:00"}}, "window.start", ""),
        ({"window": {"start": "09:00", "end": "10:00", "timezone": "Mars/Base"}}, "window.timezone", "IANA"),
        ({"local_time": "08:00", "window": {"start": "09:00", "end": "10:00", "timezone": "recipient"}}, "local_time", "within"),
        ({"local_time": "09:30", "window": {"start": "09:00", "end": "10:00"}}, "window.timezone", "must be recipient"),
        ({"channel": "sms", "pacing": {"domains": {"gmail.com": 5}}}, "pacing.domains", "mail addresses"),
        ({"pacing": {"per_minute": 0}}, "pacing.per_minute", ""),
        ({"variants": [{"percent": 60, "variables": {"a": 1}}, {"percent": 60, "variables": {"a": 2}}]}, "variants", "100 percent"),
        ({"variants": [{"percent": 60}]}, "variants[0]", "template or variables"),
        ({"variants": [{"percent": 60, "template": "no_such"}]}, "variants[0].template", "must be the key"),
        ({"variants": [{"percent": 60, "variables": {"order_number": 7}}]}, "variants[0].variables.order_number", ""),
        ({"recipients": ["nobody"]}, "recipients[0]", ""),
        ({"recipients": ["rcp_01M7JQ7EFHHDWW5H226882Y9T0"]}, "recipients[0]", ""),
        ({"query": "tag = 'x'"}, "query", "did you mean filter?"),
    ],
)  # fmt: skip
async def test_bad_input_is_named_and_nothing_is_written(
    world: PipelineWorld, wrong: dict[str, Any], field: str, says: str
) -> None:
    async with world.sender() as sender:
        answer = await sender.client.post(HOME, json=wish(**wrong))

        problem = answer.json()
        assert answer.status_code == 400, problem
        assert field in {one["field"] for one in problem["errors"]}, problem
        assert says in " ".join(one["remedy"] for one in problem["errors"])
        assert (await sender.client.get(HOME)).json()["items"] == []


async def test_a_draft_is_changed_from_the_version_that_was_read(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        batch = await write(sender)
        path = f"{HOME}/{batch.id}"
        etag = (await sender.client.get(path)).headers["etag"]

        changed = await sender.client.put(path, json=wish(name="Autumn"), headers={"If-Match": etag})
        stale = await sender.client.put(path, json=wish(name="Winter"), headers={"If-Match": etag})
        blind = await sender.client.put(path, json=wish(name="Winter"))

        assert (changed.status_code, changed.json()["name"]) == (200, "Autumn")
        assert (stale.status_code, blind.status_code) == (412, 428)


async def test_a_batch_that_runs_is_not_changed(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        batch = await write(sender)
        started = await batch.post("start")

        answer = await sender.client.put(
            f"{HOME}/{batch.id}", json=wish(), headers={"If-Match": started.headers["etag"]}
        )

        assert (answer.status_code, answer.json()["code"]) == (409, "batch_state")


async def test_another_tenants_batch_is_not_there(world: PipelineWorld) -> None:
    async with world.sender() as sender, world.sender() as other:
        batch = await write(sender)
        foreign = Written(other, batch.id)

        answers = [
            await foreign.post(verb)
            for verb in ("start", "pause", "resume", "cancel", "approve", "dry-run", "clone")
        ]
        answers += [
            await other.client.get(f"{HOME}/{batch.id}{path}")
            for path in ("", "/people", "/report", "/progress")
        ]
        answers.append(await foreign.post("test", recipients=["rcp_01M7JQ7EFHHDWW5H226882Y9T0"]))

        assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {
            (404, "batch_not_found")
        }
        assert (await other.client.get(HOME)).json()["items"] == []


async def test_who_may_only_read_starts_nothing(world: PipelineWorld) -> None:
    async with world.sender(role="tenant.viewer", scopes=["batches:read"]) as viewer:
        preview = await viewer.client.post(f"{HOME}/preview", json=wish())
        assert preview.status_code == 200, preview.text
        assert (await viewer.client.get(HOME)).status_code == 200
        assert (await viewer.client.post(HOME, json=wish())).status_code == 403


async def test_a_preview_counts_shows_some_and_says_what_is_wrong(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 12, tags=["vip"])

        preview = (await sender.client.post(f"{HOME}/preview", json=wish(channel="email"))).json()
        by_sms = await sender.client.post(
            f"{HOME}/preview",
            json=wish(template="conversation_reply", channel="sms", variables={"text": "Hello"}),
        )
        batch = await write(sender)
        same = await batch.do("dry-run")

        assert (preview["count"], preview["channels"], preview["problems"]) == (12, {"email": 12}, [])
        assert len(preview["sample"]) == 10
        assert all("@" in one["to"][0] and "…" in one["to"][0] for one in preview["sample"])
        assert same == preview
        assert "12 of them have no address on sms" in str(by_sms.json()), by_sms.text
        assert (await batch.show())["totals"]["people"] == 0


async def test_a_batch_for_nobody_is_not_started(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        batch = await write(sender, filter=None)

        preview = await batch.do("dry-run")
        answer = await batch.post("start")

        assert (answer.status_code, answer.json()["code"]) == (409, "batch_not_ready")
        assert "it is for nobody yet" in preview["problems"][0]


async def test_a_clone_says_the_same_to_the_same_people(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        ids = await crowd(world, sender.tenant_id, 3)
        batch = await write(sender, filter=None, recipients=ids)
        await batch.do("start")
        await world.settle()

        copy = await batch.do("clone", name="Once more")
        again = Written(sender, copy["id"])
        await again.do("start")
        await world.settle()

        assert (copy["status"], copy["name"], copy["cloned_from"]) == ("draft", "Once more", batch.id)
        assert {line["recipient_id"] for line in await again.people()} == set(ids)


async def test_a_test_goes_to_those_who_are_named_and_counts_nowhere(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 2, tags=["vip"])
        batch = await write(sender)
        to = f"me-{unused()}@example.test"
        me = {
            "identity": {"type": "user", "id": unused()},
            "addresses": [{"channel": "email", "address": to}],
        }

        tested = await batch.do("test", recipients=[me])
        await world.settle()

        shown = (await sender.client.get(f"/api/v1/notifications/{tested['items'][0]['id']}")).json()
        assert (shown["status"], shown["batch_id"]) == ("delivered", None)
        assert shown["metadata"] == {"batch_test": batch.id}
        assert len(world.received(to)) == 1
        assert await batch.totals() == {}
        assert await batch.people() == []


class TestApproval:
    async def test_somebody_else_has_to_approve_it(self, world: PipelineWorld) -> None:
        async with world.sender() as author, world.http.as_tenant(author.tenant_id) as other:
            batch = await write(author, needs_approval=True)

            early = await batch.post("start")
            own = await batch.post("approve")
            approved = await other.post(f"{HOME}/{batch.id}/approve")
            started = await batch.post("start")

            assert (early.status_code, early.json()["code"]) == (409, "batch_approval_missing")
            assert (own.status_code, own.json()["code"]) == (409, "batch_approver_is_author")
            assert approved.json()["approved_by"] is not None
            assert started.status_code == 200

    async def test_the_tenants_policy_may_ask_for_it(self, world: PipelineWorld) -> None:
        async with world.sender(NotificationPolicy(batches_need_approval=True)) as author:
            batch = await write(author)

            assert (await batch.post("start")).json()["code"] == "batch_approval_missing"

    async def test_a_change_takes_it_away(self, world: PipelineWorld) -> None:
        async with world.sender() as author, world.http.as_tenant(author.tenant_id) as other:
            batch = await write(author, needs_approval=True)
            approved = await other.post(f"{HOME}/{batch.id}/approve")

            changed = await author.client.put(
                f"{HOME}/{batch.id}",
                json=wish(needs_approval=True),
                headers={"If-Match": approved.headers["etag"]},
            )

            assert changed.json()["approved_by"] is None
            assert (await batch.post("start")).json()["code"] == "batch_approval_missing"

    async def test_every_further_list_takes_it_away_and_who_uploaded_it_cannot_give_it(
        self, world: PipelineWorld
    ) -> None:
        async with (
            world.sender() as author,
            world.http.as_tenant(author.tenant_id) as other,
            world.http.as_tenant(author.tenant_id) as third,
        ):
            ids = await crowd(world, author.tenant_id, 2)
            batch = await write(author, filter=None, recipients=ids[:1], needs_approval=True)
            approved = await other.post(f"{HOME}/{batch.id}/approve")

            added = await other.post(
                f"{HOME}/{batch.id}/recipients",
                content=f"id\n{ids[1]}\n",
                headers={"Content-Type": "text/csv"},
            )

            assert (approved.status_code, added.status_code) == (200, 200)
            shown = await batch.show()
            assert shown["approved_by"] is None
            assert (await batch.post("start")).json()["code"] == "batch_approval_missing"
            own = await other.post(f"{HOME}/{batch.id}/approve")
            assert (own.status_code, own.json()["code"]) == (409, "batch_approver_is_author")
            stale = await third.post(
                f"{HOME}/{batch.id}/approve", headers={"If-Match": approved.headers["etag"]}
            )
            assert (stale.status_code, stale.json()["code"]) == (412, "stale_version")
            seen = await third.get(f"{HOME}/{batch.id}")
            again = await third.post(f"{HOME}/{batch.id}/approve", headers={"If-Match": seen.headers["etag"]})
            assert again.status_code == 200, again.text
            assert (await batch.post("start")).status_code == 200


async def test_variables_are_sealed(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        secret = f"s-{unused()}"
        batch = await write(sender, variables={**wish()["variables"], "order_number": secret})

        [row] = await sender.rows("SELECT * FROM notification.dispatch_batches WHERE id = $1", batch.id)

        assert secret not in str(
            {name: bytes(v) if isinstance(v, memoryview) else v for name, v in row.items()}
        )
        assert secret.encode() not in bytes(row["variables_ciphertext"])
