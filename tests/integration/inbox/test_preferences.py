"""Preferences with an inbox token: the rules of the preference pages, for a person in the application itself."""

from typing import Any

import httpx2

from tests.support.inbox import publish, somebody, visitor
from tests.support.people import unused
from tests.support.pipeline import PipelineWorld, Sender
from tidings.contracts.tenants import NotificationPolicy

AT = "/api/v1/inbox/preferences"
PAGE = "https://shop.example"


async def set_up(sender: Sender) -> str:
    """A tenant that sends four categories; somebody with a mailbox."""
    for category in ("transactional", "reminder", "social", "marketing"):
        await publish(sender.client, f"parcel_{category}", category=category)
    return await somebody(sender, f"laila-{unused()}@example.test")


async def shown(person: httpx2.AsyncClient, **query: str) -> dict[str, Any]:
    answer = await person.get(AT, params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["etag"] == f'"v{answer.json()["version"]}"'
    found: dict[str, Any] = answer.json()
    return found


async def say(person: httpx2.AsyncClient, version: int, **what: Any) -> httpx2.Response:
    return await person.patch(AT, json=what, headers={"If-Match": f'"v{version}"'})


def heard(view: dict[str, Any]) -> dict[str, dict[str, bool]]:
    return {one["category"]: one["channels"] for one in view["categories"]}


async def ledger(sender: Sender, recipient_id: str) -> list[tuple[Any, ...]]:
    found = await sender.rows(
        "SELECT kind, channel, category, source, actor, evidence FROM notification.consent_events"
        " WHERE recipient_id = $1 ORDER BY preferences_version, kind",
        recipient_id,
    )
    return [tuple(row.values()) for row in found]


async def test_a_person_sees_all_that_they_may_choose_and_what_always_comes(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await set_up(sender)
        async with visitor(sender, laila) as her:
            view = await shown(her)
            in_dari = await shown(her, locale="fa-AF")

    assert view["version"] == 0
    assert view["channels"] == ["email", "inapp"]
    assert not view["everything_off"]
    assert not view["consent_pending"]
    rows = {one["category"]: (one["locked"], one["needs_consent"]) for one in view["categories"]}
    assert rows["transactional"] == (True, False)
    assert rows["reminder"] == rows["social"] == (False, False)
    assert rows["marketing"] == (False, True)
    assert view["categories"][-1]["category"] == "marketing"
    shown_channels = heard(view)
    assert shown_channels["transactional"] == {}
    assert shown_channels["reminder"] == shown_channels["social"] == {"email": True, "inapp": True}
    assert shown_channels["marketing"] == {"email": False, "inapp": False}
    assert heard(in_dari) == heard(view)


async def test_a_no_and_a_yes_hold_for_what_is_sent_and_are_written_down(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await set_up(sender)
        async with visitor(sender, laila) as her:
            off = await say(her, 0, categories={"reminder": {"email": False}})
            silent = await sender.send(recipient=laila, category="reminder")
            await world.settle()
            again = await say(her, 1, categories={"reminder": {"email": False}})
            on = await say(her, 1, categories={"reminder": {"email": True}})
            loud = await sender.send(recipient=laila, category="reminder")
            await world.settle()
        outcomes = [await sender.status(silent["id"]), await sender.status(loud["id"])]
        lines = await ledger(sender, laila)

    assert (off.status_code, off.headers["etag"]) == (200, '"v1"')
    assert heard(off.json())["reminder"] == {"email": False, "inapp": True}
    assert (again.json()["version"], on.json()["version"]) == (1, 2)
    assert outcomes == ["suppressed", "delivered"]
    assert [line[:4] for line in lines] == [
        ("opted_out", "email", "reminder", "inbox"),
        ("opted_in", "email", "reminder", "inbox"),
    ]
    assert {line[4] for line in lines} == {f"recipient:{laila}"}
    assert {line[5][:17] for line in lines} == {"inbox token made "}


async def test_the_first_yes_to_what_needs_consent_gives_it_and_the_last_no_takes_it_back(
    world: PipelineWorld,
) -> None:
    async with world.sender() as sender:
        laila = await set_up(sender)
        async with visitor(sender, laila) as her:
            both = await say(her, 0, categories={"marketing": {"email": True, "inapp": True}})
            one = await say(her, 1, categories={"marketing": {"inapp": False}})
            none = await say(her, 2, categories={"marketing": {"email": False}})
        preferences = await sender.client.get(f"/api/v1/recipients/{laila}/preferences")
        lines = await ledger(sender, laila)

    assert heard(both.json())["marketing"] == {"email": True, "inapp": True}
    assert heard(one.json())["marketing"] == {"email": True, "inapp": False}
    assert heard(none.json())["marketing"] == {"email": False, "inapp": False}
    assert heard(none.json())["social"] == {"email": True, "inapp": True}
    assert preferences.json()["marketing_consent"]["granted"] is False
    assert [(line[0], line[2], line[3]) for line in lines] == [
        ("consent_granted", None, "inbox"),
        ("opted_out", "marketing", "inbox"),
        ("consent_withdrawn", None, "inbox"),
    ]


async def test_with_double_opt_in_a_yes_waits_for_the_mail(world: PipelineWorld) -> None:
    async with world.sender(NotificationPolicy(double_opt_in=True)) as sender:
        laila = await set_up(sender)
        async with visitor(sender, laila) as her:
            asked = await say(her, 0, categories={"marketing": {"email": True}})
            again = await say(her, 1, categories={"marketing": {"email": True}})
        lines = await ledger(sender, laila)

    assert asked.status_code == 200, asked.text
    assert asked.json()["consent_pending"]
    assert heard(asked.json())["marketing"]["email"] is False
    assert again.json()["version"] == 1
    # What was not ticked beside it is a no, as on the pages.
    assert [line[:3] for line in lines] == [
        ("consent_requested", None, None),
        ("opted_out", "inapp", "marketing"),
    ]


async def test_everything_can_be_refused_at_once_and_a_yes_ends_that_for_itself_alone(
    world: PipelineWorld,
) -> None:
    async with world.sender() as sender:
        laila = await set_up(sender)
        async with visitor(sender, laila) as her:
            off = await say(her, 0, everything_off=True)
            still = await say(her, 1, categories={"social": {"email": False}})
            on = await say(her, 1, categories={"social": {"inapp": True}})
            both = await say(her, 2, everything_off=True, categories={"social": {"inapp": True}})

    assert off.json()["everything_off"]
    assert {yes for by in heard(off.json()).values() for yes in by.values()} == {False}
    assert (still.json()["version"], still.json()["everything_off"]) == (1, True)
    assert not on.json()["everything_off"]
    assert heard(on.json())["social"] == {"email": False, "inapp": True}
    assert heard(on.json())["reminder"] == {"email": False, "inapp": False}
    assert (both.status_code, both.json()["errors"][0]["field"]) == (400, "everything_off")


async def test_what_is_not_theirs_to_choose_is_named(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await set_up(sender)
        async with visitor(sender, laila) as her:
            wrong = await say(
                her,
                0,
                categories={
                    "transactional": {"email": False},
                    "reminder": {"sms": False},
                    "gossip": {"email": True},
                },
            )
            unread = await say(her, 0, categories={"reminder": {"pigeon": False}})
            stale = await say(her, 7, categories={"reminder": {"email": False}})
            unnamed = await her.patch(AT, json={})
            view = await shown(her)

    assert wrong.status_code == 400, wrong.text
    found = {one["field"]: one["remedy"] for one in wrong.json()["errors"]}
    assert found["categories.transactional.email"] == "can't be refused: it always comes; leave it out"
    assert found["categories.reminder.sms"] == "is a channel that does not reach you; there are email, inapp"
    assert found["categories.gossip.email"].startswith("is none of the categories to choose from: ")
    assert "reminder, social, marketing" in found["categories.gossip.email"]
    assert unread.status_code == 400
    assert (stale.status_code, unnamed.status_code) == (412, 428)
    assert view["version"] == 0


async def test_a_yes_ends_what_somebody_else_refused_at_the_same_mailbox(world: PipelineWorld) -> None:
    """Two accounts share a mailbox; from there everything was refused. A yes to one thing leaves the rest refused."""
    async with world.sender() as sender:
        laila = await set_up(sender)
        async with world.unguarded(
            "notification.address_refusals", "notification.recipient_addresses"
        ) as owner:
            await owner.execute(
                "INSERT INTO notification.address_refusals"
                " (tenant_id, id, channel, address_hash, category, refused_at, source)"
                " SELECT tenant_id, 'arf_' || substr(id, 5), channel, address_hash, NULL, $2, 'one_click'"
                " FROM notification.recipient_addresses WHERE recipient_id = $1",
                laila,
                world.clock.now(),
            )
        async with visitor(sender, laila) as her:
            before = await shown(her)
            after = await say(her, 0, categories={"social": {"email": True}})
        left = await sender.rows(
            "SELECT category FROM notification.address_refusals WHERE withdrawn_at IS NULL ORDER BY category"
        )

    assert heard(before)["social"] == heard(before)["reminder"] == {"email": False, "inapp": True}
    assert heard(after.json())["social"] == {"email": True, "inapp": True}
    assert heard(after.json())["reminder"] == {"email": False, "inapp": True}
    assert [row["category"] for row in left] == ["marketing", "operational", "reminder"]


async def test_it_is_for_the_live_token_of_the_person_and_for_pages_of_any_origin(
    world: PipelineWorld,
) -> None:
    async with world.sender() as sender:
        laila = await set_up(sender)
        async with visitor(sender, laila) as her:
            asked = {"Origin": PAGE, "Access-Control-Request-Method": "PATCH"}
            before = await her.options(AT, headers=asked)
            answer = await her.get(AT, headers={"Origin": PAGE})
            by_key = await sender.client.get(AT)
            await sender.client.delete(f"/api/v1/recipients/{laila}/inbox-tokens")
            voided = await her.get(AT)

    assert before.status_code == 204
    assert "PATCH" in before.headers["access-control-allow-methods"]
    assert "if-match" in before.headers["access-control-allow-headers"]
    assert answer.headers["access-control-allow-origin"] == "*"
    assert (by_key.status_code, voided.status_code) == (403, 401)


async def test_a_test_token_opens_no_preferences(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await set_up(sender)
        async with world.http.as_tenant(sender.tenant_id, environment="test") as tester:
            made = await tester.post(f"/api/v1/recipients/{laila}/inbox-tokens")
        async with world.http.client(made.json()["token"]) as her:
            refused = await her.get(AT)
    assert (refused.status_code, refused.json()["code"]) == (403, "test_key")


async def test_a_person_who_switches_without_end_has_to_wait(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await set_up(sender)
        async with visitor(sender, laila) as her:
            answers = [await say(her, min(number, 1)) for number in range(61)]
    assert [one.status_code for one in answers[:-1]] == [200] * 60
    assert (answers[-1].status_code, answers[-1].json()["code"]) == (429, "too_many_preference_changes")
    assert int(answers[-1].headers["retry-after"]) == 60
