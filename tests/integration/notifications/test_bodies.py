"""Bodies: shown again from what was frozen, to those who may, and every look is noted."""

from tests.integration.notifications.world import HOME, Sender, SentWorld, publish
from tests.support.people import rows
from tidings.contracts.ids import NotificationId
from tidings.notify.dispatch import store as dispatch_store
from tidings.notify.dispatch.compose import ComposeAsk, Composed, encode_snapshot, letterhead_of


async def snapshot(world: SentWorld, sender: Sender, id_: NotificationId) -> str:
    """What sending it keeps of its words."""
    shared = await world.loader.shared()
    async with world.db.tenant(sender.tenant_id) as tx:
        pending = (await dispatch_store.load_pending(tx, [id_]))[id_]
        facts = await world.loader.load(tx, shared, [pending.recipient_id], channels=["email"])
        pepper = await world.system.kernel.keyring.pepper(tx)
    person = facts.people[pending.recipient_id]
    [made] = await world.system.composition.composer.compose(
        [ComposeAsk(pending=pending, channel="email", owner=person.key, reader=person)],
        {sender.tenant_id: letterhead_of(facts, pepper, ())},
    )
    assert isinstance(made, Composed)
    return encode_snapshot(made.snapshot)


async def test_a_body_is_proven_to_be_what_was_sent(world: SentWorld) -> None:
    async with world.sender() as sender:
        id_ = await sender.send()
        before = await sender.get(f"/{id_}/body")
        kept = await snapshot(world, sender, id_)
        await world.arrange(sender.tenant_id, id_, status="delivered", render_snapshot=kept, locale="fa-AF")
        # A new version of the template, and another time zone: neither touches what was sent.
        person = (await sender.get(f"/{id_}")).json()["recipient_id"]
        await sender.client.patch(
            f"/api/v1/recipients/{person}", json={"timezone": "Europe/Berlin"}, headers={"If-Match": "*"}
        )
        after = await sender.get(f"/{id_}/body")
        audit = await sender.client.get("/api/v1/audit", params={"entity_type": "notification"})

    assert before.json()["exact"] is None
    assert after.json() | {"exact": None} == before.json()
    assert (after.json()["exact"], after.json()["subject"]) == (True, "سلام Laila")
    assert (after.json()["direction"], after.json()["locale"]) == ("rtl", "fa-AF")
    assert [(row["action"], row["entity_id"]) for row in audit.json()["items"]] == [
        ("body_revealed", id_)
    ] * 2


async def test_words_that_differ_are_not_called_exact(world: SentWorld) -> None:
    async with world.sender() as sender:
        id_ = await sender.send()
        other = await sender.send(variables={"name": "Somebody else"})
        kept = await snapshot(world, sender, other)
        await world.arrange(sender.tenant_id, id_, status="delivered", render_snapshot=kept)
        shown = await sender.get(f"/{id_}/body")

    assert (shown.status_code, shown.json()["exact"]) == (200, False)


async def test_for_any_channel_the_one_that_was_rendered_is_found_by_its_digest(world: SentWorld) -> None:
    async with world.sender(channels=("email", "sms")) as sender:
        text = {"en": {"format": "text", "body": "Hello {{name}}"}}
        await publish(sender.client, channel="sms", locales=text)
        id_ = await sender.send(channel="auto")
        kept = await snapshot(world, sender, id_)
        await world.arrange(sender.tenant_id, id_, status="failed", render_snapshot=kept)
        shown = await sender.get(f"/{id_}/body")

    assert (shown.json()["channel"], shown.json()["exact"]) == ("email", True)


async def test_a_step_of_the_ladder_is_shown_by_its_channel(world: SentWorld) -> None:
    """A text message that nobody got, of a notification that went by mail in the end."""
    async with world.sender(channels=("email", "sms")) as sender:
        await publish(
            sender.client, channel="sms", locales={"en": {"format": "text", "body": "Short, {{name}}"}}
        )
        id_ = await sender.send(channel="auto")
        kept = await snapshot(world, sender, id_)
        await world.arrange(
            sender.tenant_id, id_, status="delivered", final_channel="email", render_snapshot=kept
        )
        texted = await sender.get(f"/{id_}/body", channel="sms")
        mailed = await sender.get(f"/{id_}/body", channel="email")
        neither = await sender.get(f"/{id_}/body", channel="voice")

    assert (texted.json()["channel"], texted.json()["text"], texted.json()["exact"]) == (
        "sms",
        "Short, Laila",
        None,
    )
    assert (mailed.json()["channel"], mailed.json()["exact"]) == ("email", True)
    assert (neither.status_code, neither.json()["detail"]) == (
        400,
        "channel must be one that the template has a text for: email, sms.",
    )


async def test_only_those_who_may_see_addresses_see_bodies(world: SentWorld) -> None:
    async with world.sender() as sender:
        id_ = await sender.send()
        answers = {}
        for role in ("tenant.viewer", "tenant.support"):
            async with world.http.as_tenant(sender.tenant_id, role=role) as client:
                answers[role] = await client.get(f"{HOME}/{id_}/body")
        async with world.http.as_tenant(sender.tenant_id, scopes=["notifications:read"]) as client:
            narrow = await client.get(f"{HOME}/{id_}/body")

    assert (narrow.status_code, narrow.json()["code"]) == (403, "missing_scope")
    assert "recipients:write" in narrow.json()["detail"]
    assert (answers["tenant.viewer"].status_code, answers["tenant.support"].status_code) == (403, 200)


async def test_an_erased_persons_body_is_gone(world: SentWorld) -> None:
    async with world.sender() as sender:
        id_ = await sender.send()
        person = (await sender.get(f"/{id_}")).json()["recipient_id"]
        async with world.db.tenant(sender.tenant_id) as tx:
            await world.system.kernel.keyring.destroy(tx, [person])
        unreadable = await sender.get(f"/{id_}/body")
        await rows(
            world.db,
            sender.tenant_id,
            "UPDATE notification.recipients SET erased_at = now() WHERE id = $1 RETURNING id",
            person,
        )
        erased = await sender.get(f"/{id_}/body")
        explained = await sender.get(f"/{id_}/explain")

    assert (unreadable.status_code, unreadable.json()["code"]) == (409, "body_gone")
    assert (erased.status_code, erased.json()["code"]) == (409, "recipient_erased")
    assert explained.status_code == 200
