"""How messages come, on the preference page: what is offered, what is saved, and what is refused with kind words."""

import re
from typing import Any

import httpx2
import pytest

from tests.integration.preferences.visitors import Visitor, uses, visitor
from tests.support.pipeline import PipelineWorld
from tidings.contracts.tenants import DigestChoice, NotificationPolicy

pytestmark = pytest.mark.xdist_group("preferences-pages")

EVENING = {"every": "day", "at": "18:00"}


async def page_of(laila: Visitor) -> str:
    page = await laila.browser.get(f"/p/{laila.token}")
    assert page.status_code == 200
    return page.text


def chosen(page: str, category: str) -> str:
    """What is selected in a category's list, as it is read."""
    return _selected(page, f"when:{category}")


def _selected(page: str, name: str) -> str:
    found = re.search(rf'<select name="{name}">.*?<option value="\w+" selected>([^<]*)<', page)
    assert found is not None, name
    return found[1]


def offered(page: str, category: str) -> list[str]:
    found = re.search(rf'<select name="when:{category}">(.*?)</select>', page)
    return re.findall(r'<option value="(\w+)"', found[1]) if found is not None else []


async def choose(laila: Visitor, **wish: str) -> httpx2.Response:
    """Send the page's form with every box ticked, its lists as they stand, and this changed: `when_social="day"`."""
    page = await page_of(laila)
    form: dict[str, Any] = await laila.form()
    form |= {"do": "save", "hear": re.findall(r'name="hear" value="(\w+:\w+)" checked', page)}
    for name, options in re.findall(r'<select name="([\w:]+)">(.*?)</select>', page):
        found = re.search(r'value="(\w+)" selected', options)
        assert found is not None
        form[name] = found[1]
    form |= dict(re.findall(r'<input type="time" name="([\w:]+)" value="([\d:]+)"', page))
    form |= {name.replace("_", ":", 1): value for name, value in wish.items()}
    return await laila.browser.post(f"/p/{laila.token}", data=form)


async def schedule(laila: Visitor) -> dict[str, Any]:
    found: dict[str, Any] = (await laila.choices())["digest_schedule"]
    return found


async def test_each_form_is_saved_and_shown(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        assert chosen(await page_of(laila), "social") == "As usual · One by one, at once"
        for wish, expected, told in [
            ({"when_social": "hour"}, {"every": "hour"}, "Together, once an hour"),
            (
                {"when_social": "day", "at_social": "18:00", "day_social": "fri"},
                {"every": "day", "at": "18:00"},
                "Together, once a day",
            ),
            ({"when_social": "now"}, {"every": "never"}, "One by one, at once"),
            (
                {"when_social": "day", "at_social": ""},
                {"every": "day", "at": "09:00"},
                "Together, once a day",
            ),
        ]:
            saved = await choose(laila, **wish)
            assert saved.status_code == 303, saved.text
            assert await schedule(laila) == {"social": expected}
            assert chosen(await page_of(laila), "social") == told

        await choose(laila, when_marketing="week", day_marketing="fri", at_marketing="07:30")
        week = {"every": "week", "at": "07:30", "day": "fri"}
        assert await schedule(laila) == {"social": {"every": "day", "at": "09:00"}, "marketing": week}
        page = await page_of(laila)
        assert _selected(page, "day:marketing") == "Friday"
        assert 'name="at:marketing" value="07:30"' in page

        await choose(laila, when_social="usual", when_marketing="usual")
        assert await schedule(laila) == {}
        # Which boxes are ticked was left alone all the while.
        assert (await laila.choices())["channels"] == {}


async def test_what_is_left_alone_is_not_changed(world: PipelineWorld) -> None:
    """Also what the page could not have made, and what says the same in other words."""
    stood = {
        "social": {"every": "pause", "minutes": 5, "at_most_minutes": 30},
        "marketing": {"every": "week", "days": ["mon"]},
        "academic": {"every": "day"},
    }
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        await sender.choose(laila.recipient_id, digest_schedule=stood)
        version = (await laila.choices())["version"]

        page = await page_of(laila)
        assert chosen(page, "social") == "As it is · Together, after a short while"
        assert (chosen(page, "marketing"), chosen(page, "academic")) == (
            "Together, once a week",
            "Together, once a day",
        )
        saved = await choose(laila)
        assert saved.status_code == 303
        assert (await schedule(laila), (await laila.choices())["version"]) == (stood, version)

        await choose(laila, when_social="now")
        assert await schedule(laila) == stood | {"social": {"every": "never"}}
        assert "kept" not in offered(await page_of(laila), "social")


async def test_whether_unread_digests_merge_stays_as_it_is(world: PipelineWorld) -> None:
    """The page does not ask it."""
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        merging = {"every": "day", "at": "18:00", "merge_unread": True}
        await sender.choose(laila.recipient_id, digest_schedule={"social": merging})

        await choose(laila, when_social="day", at_social="07:00")
        assert await schedule(laila) == {"social": merging | {"at": "07:00"}}
        await choose(laila, when_social="now")
        assert await schedule(laila) == {"social": {"every": "never"}}


async def test_the_tenants_schedule_is_told_to_those_who_have_not_chosen(world: PipelineWorld) -> None:
    policy = NotificationPolicy(
        digest_schedule={
            "social": DigestChoice(every="day", at="18:00"),
            "academic": DigestChoice(every="week", days=("thu", "mon"), at="07:00"),
        }
    )
    async with world.sender(policy) as sender:
        laila = await visitor(world, sender, timezone="Asia/Kabul")
        page = await page_of(laila)

        assert chosen(page, "social") == "As usual · Together, once a day · 18:00"
        assert chosen(page, "academic") == "As usual · Together, on some days · Monday · Thursday · 07:00"
        assert "Times are those of <bdi>Asia/Kabul</bdi>." in page
        # What it would be if they chose a day themselves.
        assert 'name="at:social" value="18:00"' in page
        await choose(laila, when_academic="now")
        assert await schedule(laila) == {"academic": {"every": "never"}}


async def test_only_what_can_act_is_offered(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        page = await page_of(laila)
        # Service notices expire after a day.
        assert offered(page, "operational") == ["usual", "now", "hour", "day"]
        assert offered(page, "social") == ["usual", "now", "hour", "day"]
        assert offered(page, "marketing") == ["usual", "now", "hour", "day", "week"]
        assert offered(page, "transactional") == []


async def test_what_always_comes_can_come_gathered(world: PipelineWorld) -> None:
    """A category that nobody can unsubscribe from, but that may be gathered."""
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        assert offered(await page_of(laila), "system") == []
        await uses(sender, "system")

        page = await page_of(laila)
        assert offered(page, "system") == ["usual", "now", "hour", "day"]
        assert "You always get these." in page
        assert 'value="system:email"' not in page
        await choose(laila, when_system="day", at_system="20:00")
        assert await schedule(laila) == {"system": {"every": "day", "at": "20:00"}}
        assert (await laila.choices())["channels"] == {}


@pytest.mark.parametrize(
    "wish",
    [
        {"when_social": "day", "at_social": "25:00"},
        {"when_social": "day", "at_social": "6pm"},
        {"when_marketing": "week", "day_marketing": "someday"},
        {"when_social": "sometimes"},
        # Their messages expire before.
        {"when_operational": "week"},
    ],
)
async def test_what_can_not_be_is_refused_and_nothing_is_saved(
    world: PipelineWorld, wish: dict[str, str]
) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender, locale="fr")
        ticked = re.findall(r'value="(\w+:\w+)" checked', await page_of(laila))
        refused = await choose(laila, **wish, hear="social:email")

        assert refused.status_code == 400
        assert refused.headers["content-type"].startswith("text/html")
        assert '<p role="alert">L’heure ou le jour' in refused.text
        assert re.findall(r'value="(\w+:\w+)" checked', refused.text) == ticked
        assert (await laila.choices())["version"] == 0


async def test_of_two_windows_the_later_one_is_told(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        old = await laila.version()
        await choose(laila, when_social="day")
        late = await choose(laila, when_social="hour", version=old)

        assert late.status_code == 412
        assert chosen(late.text, "social") == "Together, once a day"
        assert await schedule(laila) == {"social": {"every": "day", "at": "09:00"}}


async def test_fields_of_categories_that_were_not_offered_do_nothing(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        saved = await choose(laila, when_transactional="day", when_nonsense="day", when_security="hour")
        assert saved.status_code == 303
        assert await schedule(laila) == {}


async def test_a_choice_counts_for_what_waits_and_for_what_comes(world: PipelineWorld) -> None:
    """Messages that wait for their digest go when they choose to have them at once; later ones do not wait."""
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        await choose(laila, when_social="day", at_social="18:00")
        waits = await sender.send(recipient=laila.recipient_id, category="social")
        await world.settle()
        assert await sender.status(waits["id"]) == "scheduled"
        other = await sender.send(recipient=laila.recipient_id, category="reminder")
        await world.settle()
        assert await sender.status(other["id"]) == "delivered"

        await choose(laila, when_social="now")
        await world.settle()

        assert await sender.status(waits["id"]) == "delivered"


async def test_choosing_is_in_the_audit_and_announced(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        await choose(laila, when_social="day")
        rows = await sender.rows(
            "SELECT actor FROM notification.audit WHERE entity_type = 'preferences' AND entity_id = $1",
            laila.recipient_id,
        )
    assert [row["actor"] for row in rows] == [f"recipient:{laila.recipient_id}"]
