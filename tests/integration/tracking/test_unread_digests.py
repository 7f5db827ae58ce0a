"""A digest that was not opened is told once more in the next one, where it can be known that it was not."""

import re
from datetime import timedelta
from typing import Any

import pytest

from tests.support.people import unused
from tests.support.pipeline import ORDERED, PipelineWorld, Sender, person
from tidings.contracts.tenants import DigestChoice, NotificationPolicy, Tracking

pytestmark = pytest.mark.xdist_group("tracking-unread")

OPENS = NotificationPolicy(tracking=Tracking(opens=True))
#: Messages of this category expire after three days.
DAILY = {"academic": {"every": "day", "at": "18:00", "merge_unread": True}}
PERSON = {"user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0"}


class Reader:
    """Somebody who gets digests in the evening."""

    def __init__(self, world: PipelineWorld, sender: Sender, recipient_id: str, to: str) -> None:
        self.world = world
        self.sender = sender
        self.id = recipient_id
        self.to = to
        self.seen = 0

    async def day(self, *numbers: str) -> list[Any]:
        """These are ordered, and evening comes; the mails of the day."""
        for number in numbers:
            variables = ORDERED | {"order_number": number}
            await self.sender.send(recipient=self.id, category="academic", variables=variables)
        await self.world.settle()
        now = self.world.clock.now()
        evening = now.replace(hour=18, minute=0, second=0, microsecond=0)
        await self.world.until(evening if evening > now else evening + timedelta(days=1))
        mails = self.world.received(self.to)[self.seen :]
        self.seen += len(mails)
        return mails

    async def opens(self, mail: Any) -> None:
        [pixel] = re.findall(r'<img src="https://tidings\.example(/t/o/[\w-]+\.gif)"', mail.html)
        async with self.world.http.client() as browser:
            assert (await browser.get(pixel, headers=PERSON)).status_code == 200
        await self.world.system.notify.visits.settle()


async def reader(world: PipelineWorld, sender: Sender, schedule: Any = None) -> Reader:
    to = f"{unused()}@example.test"
    made = await sender.client.post("/api/v1/recipients", json=person(to))
    recipient_id = str(made.json()["id"])
    await sender.choose(recipient_id, digest_schedule=DAILY if schedule is None else schedule)
    return Reader(world, sender, recipient_id, to)


def told(mail: Any) -> list[str]:
    """The numbers of the orders that it tells of."""
    return sorted(set(re.findall(r"(?<![\w-])[A-D]-\d(?![\w-])", mail.text)))


async def last_digest(sender: Sender) -> dict[str, Any]:
    """The explanation of the last one."""
    [row] = await sender.rows(
        "SELECT digest_notification_id AS id FROM notification.digest_windows WHERE result = 'digest' "
        "ORDER BY flushed_at DESC LIMIT 1"
    )
    return await sender.explain(row["id"])


async def test_what_was_not_opened_is_told_once_more(world: PipelineWorld) -> None:
    async with world.sender(OPENS) as sender:
        laila = await reader(world, sender)
        [first] = await laila.day("A-1", "A-2")
        await laila.opens(first)
        [second] = await laila.day("B-1", "B-2")
        unopened = (await last_digest(sender))["notification"]["id"]

        [third] = await laila.day("C-1")

        assert [told(mail) for mail in (second, third)] == [["B-1", "B-2"], ["B-1", "B-2", "C-1"]]
        assert "3 updates" in third.subject
        assert (second.html.count("sent before"), third.html.count("sent before")) == (0, 2)
        explained = await last_digest(sender)
        assert explained["digest"]["repeats"] == unopened
        assert len(explained["digest"]["items"]) == 1
        [line] = [line for line in explained["decision"] if line["reason"] == "digest_repeats"]
        assert "not opened" in line["explanation"]
        # Nothing is told a third time, though the third was not opened either.
        [fourth] = await laila.day("D-1", "D-2")
        assert told(fourth) == ["C-1", "D-1", "D-2"]


async def test_what_was_opened_is_not_told_again(world: PipelineWorld) -> None:
    async with world.sender(OPENS) as sender:
        laila = await reader(world, sender)
        for number in ("A", "B"):
            [mail] = await laila.day(f"{number}-1", f"{number}-2")
            await laila.opens(mail)

        [mail] = await laila.day("C-1", "C-2")

        assert told(mail) == ["C-1", "C-2"]
        assert (await last_digest(sender))["digest"]["repeats"] is None


async def test_whose_mails_never_show_that_they_were_opened_is_told_nothing_twice(
    world: PipelineWorld,
) -> None:
    """Many mail programs load no pictures, or have a machine load them."""
    async with world.sender(OPENS) as sender:
        laila = await reader(world, sender)
        for number in ("A", "B", "C"):
            [mail] = await laila.day(f"{number}-1", f"{number}-2")
            assert told(mail) == [f"{number}-1", f"{number}-2"]


async def test_nothing_is_merged_where_opens_are_not_tracked_any_more(world: PipelineWorld) -> None:
    async with world.sender(OPENS) as sender:
        laila = await reader(world, sender)
        [mail] = await laila.day("A-1", "A-2")
        await laila.opens(mail)
        await laila.day("B-1", "B-2")
        await sender.policy(NotificationPolicy())

        [mail] = await laila.day("C-1", "C-2")

        assert told(mail) == ["C-1", "C-2"]


async def test_nothing_is_merged_unless_the_schedule_says_so(world: PipelineWorld) -> None:
    usual = NotificationPolicy(
        tracking=Tracking(opens=True), digest_schedule={"academic": DigestChoice(every="day", at="18:00")}
    )
    async with world.sender(usual) as sender:
        laila = await reader(world, sender, {})
        [mail] = await laila.day("A-1", "A-2")
        await laila.opens(mail)
        await laila.day("B-1", "B-2")

        [mail] = await laila.day("C-1", "C-2")

        assert told(mail) == ["C-1", "C-2"]


async def test_an_evening_without_news_repeats_nothing(world: PipelineWorld) -> None:
    async with world.sender(OPENS) as sender:
        laila = await reader(world, sender)
        [mail] = await laila.day("A-1", "A-2")
        await laila.opens(mail)
        await laila.day("B-1", "B-2")

        assert await laila.day() == []


async def test_what_has_expired_is_not_told_again(world: PipelineWorld) -> None:
    async with world.sender(OPENS) as sender:
        laila = await reader(world, sender)
        [mail] = await laila.day("A-1", "A-2")
        await laila.opens(mail)
        soon = (world.clock.now() + timedelta(hours=30)).isoformat()
        await sender.send(
            recipient=laila.id,
            category="academic",
            expires_at=soon,
            variables=ORDERED | {"order_number": "B-1"},
        )
        await laila.day("B-2")

        [mail] = await laila.day("C-1")

        assert told(mail) == ["B-2", "C-1"]


@pytest.mark.parametrize(
    ("schedule", "field"),
    [
        (
            {"operational": {"every": "day", "merge_unread": True}},
            "digest_schedule.operational.merge_unread",
        ),
        ({"academic": {"every": "never", "merge_unread": True}}, "digest_schedule.academic"),
    ],
)
async def test_a_merge_that_could_not_act_is_refused(
    world: PipelineWorld, schedule: dict[str, Any], field: str
) -> None:
    async with world.sender() as sender:
        laila = await reader(world, sender)
        path = f"/api/v1/recipients/{laila.id}/preferences"
        known = await sender.client.get(path)
        answer = await sender.client.patch(
            path, json={"digest_schedule": schedule}, headers={"If-Match": known.headers["etag"]}
        )
        assert answer.status_code == 400, answer.text
        assert [error["field"] for error in answer.json()["errors"]] == [field]
