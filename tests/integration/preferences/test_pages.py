"""The public pages: looking changes nothing, saying no once or ten times is the same, and nobody logs in."""

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import NoReturn

import pytest

from tests.integration.preferences.visitors import Visitor, visitor
from tests.support.people import told
from tests.support.pipeline import PipelineWorld
from tests.support.statements import counting
from tidings.kernel.errors import (
    DatabaseBusyError,
    DatabaseError,
    DatabaseFullError,
    DatabaseUnavailableError,
)
from tidings.notify.preference_center import routes
from tidings.notify.preference_center.strings import languages
from tidings.notify.preference_center.tokens import OptOutScope
from tidings.notify.preference_center.visits import LinkVisits

pytestmark = pytest.mark.xdist_group("preferences-pages")

ONE_CLICK = {"List-Unsubscribe": "One-Click"}


async def _status_of_the_next(world: PipelineWorld, laila: Visitor, category: str = "reminder") -> str:
    sent = await laila.sender.send(recipient=laila.recipient_id, category=category)
    await world.settle()
    return await laila.sender.status(sent["id"])


async def test_looking_changes_nothing_and_one_click_counts_for_the_next(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        for path in ("u", "p"):
            looked = await laila.browser.get(f"/{path}/{laila.token}")
            head = await laila.browser.head(f"/{path}/{laila.token}")
            assert (looked.status_code, head.status_code) == (200, 200)
        assert (await laila.choices())["version"] == 0
        assert await _status_of_the_next(world, laila) == "delivered"
        clicks = [await laila.browser.post(f"/u/{laila.token}", data=ONE_CLICK) for _ in range(3)]
        by_form = await laila.browser.post(
            f"/u/{laila.token}", files={"List-Unsubscribe": (None, "One-Click")}
        )
        assert [click.status_code for click in (*clicks, by_form)] == [200] * 4
        opted = await told(world.db, sender.tenant_id, "optout.")
        updated = await told(world.db, sender.tenant_id, "preferences.")
        assert await _status_of_the_next(world, laila) == "suppressed"
        assert await _status_of_the_next(world, laila, "social") == "delivered"
        assert (await laila.choices())["channels"] == {"email": {"categories": {"reminder": False}}}
        lines = await laila.consents()
        audited = await sender.rows(
            "SELECT actor FROM notification.audit WHERE entity_id = $1", laila.recipient_id
        )
    assert [(line["kind"], line["channel"], line["category"], line["source"]) for line in lines] == [
        ("opted_out", "email", "reminder", "one_click")
    ]
    assert re.fullmatch(r"token:oot_\w{26}", lines[0]["evidence"])
    assert [event for _, event in opted] == [
        {
            "recipient_id": laila.recipient_id,
            "channel": "email",
            "category": "reminder",
            "source": "one_click",
            "preferences_version": 1,
        }
    ]
    assert len(updated) == 1
    assert [row["actor"] for row in audited] == [f"recipient:{laila.recipient_id}"]
    assert laila.token not in str(opted + updated + lines)


async def test_a_page_is_strict_small_and_of_the_recipients_language(world: PipelineWorld) -> None:
    languages = {"ps-AF": "rtl", "fa-AF": "rtl", "ar": "rtl", "fr-FR": "ltr", "de": "ltr"}
    async with world.sender() as sender:
        for locale, direction in languages.items():
            laila = await visitor(world, sender, locale=locale)
            for path in ("u", "p"):
                page = await laila.browser.get(f"/{path}/{laila.token}")
                assert f'dir="{direction}"' in page.text
                assert f'lang="{"en" if locale == "de" else locale[:2]}' in page.text
                assert "Acme" in page.text
                policy = page.headers["content-security-policy"]
                assert policy.startswith("default-src 'none'; style-src 'sha256-")
                assert "unsafe" not in policy
                assert (page.headers["cache-control"], page.headers["referrer-policy"]) == (
                    "no-store",
                    "no-referrer",
                )
                assert "<script" not in page.text
                assert "http" not in re.sub(r"(?s)<style>.*?</style>", "", page.text)


async def test_links_that_are_none_and_links_whose_time_is_over(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender, locale="fr")
        mangled = laila.token[:-2] + ("AA" if laila.token[-2:] != "AA" else "BA")
        wrong = [mangled, laila.token[:-1], laila.token + "x", "example", "x" * 54, "%D8%B3"]
        for token in wrong:
            for path in ("u", "p"):
                page = await laila.browser.get(
                    f"/{path}/{token}", headers={"Accept-Language": "xx, ar;q=0.5"}
                )
                assert (page.status_code, 'lang="ar"' in page.text) == (404, True), token
                assert (await laila.browser.post(f"/{path}/{token}")).status_code == 404
        stolen = laila.token
        async with world.sender() as other:
            somebody = await visitor(world, other)
            spliced = somebody.token[:21] + stolen[21:]
            assert (await laila.browser.post(f"/u/{spliced}")).status_code == 404
        before = world.clock.now()
        await world.clock.advance(timedelta(days=440))
        for path in ("u", "p"):
            gone = await laila.browser.get(f"/{path}/{laila.token}")
            assert (gone.status_code, 'lang="fr"' in gone.text) == (410, True)
            assert (await laila.browser.post(f"/{path}/{laila.token}")).status_code == 410
        await world.clock.advance(before - world.clock.now())
        assert (await laila.choices())["version"] == 0


async def test_they_work_while_a_tenant_is_suspended_and_after_a_guardian_went(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        guardian = await visitor(world, sender)
        await sender.choose(
            laila.recipient_id, guardian_routing={"guardian_id": guardian.recipient_id, "mode": "copy"}
        )
        await sender.rows(
            "UPDATE notification.recipients SET erased_at = now() WHERE id = $1", guardian.recipient_id
        )
        async with world.http.as_platform() as platform:
            await platform.post(f"/internal/v1/tenants/{sender.tenant_id}/suspend")
        assert (await laila.browser.get(f"/p/{laila.token}")).status_code == 200
        assert (await laila.browser.post(f"/u/{laila.token}")).status_code == 200
        assert (await guardian.browser.get(f"/p/{guardian.token}")).status_code == 410
        rows = await sender.rows("SELECT source FROM notification.consent_events")
    assert [row["source"] for row in rows] == ["unsubscribe_page"]


async def test_what_is_ticked_is_what_they_hear(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender, category="marketing", phone="+4915123400001")
        page = await laila.browser.get(f"/p/{laila.token}")
        offered = re.findall(r'name="hear" value="(\w+:\w+)"( checked)?', page.text)
        assert {box for box, _ in offered} == {
            f"{category}:{channel}"
            for category in ("academic", "marketing", "operational", "reminder", "social")
            for channel in ("email", "sms")
        }
        assert all(checked for _, checked in offered)
        saved = await laila.save("reminder:email", "social:sms", "transactional:email", "nonsense")
        assert (saved.status_code, saved.headers["location"]) == (303, f"/p/{laila.token}?saved")
        chosen = await laila.choices()
        assert chosen["marketing_consent"]["granted"] is False
        assert chosen["channels"]["email"]["categories"] == {
            "academic": False, "operational": False, "social": False,
        }  # fmt: skip
        assert await _status_of_the_next(world, laila, "marketing") == "suppressed"
        assert await _status_of_the_next(world, laila) == "delivered"
        again = await laila.save("reminder:email", "social:sms")
        assert (await laila.choices())["version"] == chosen["version"], again.text
        await laila.save("marketing:email")
        agreed = await laila.choices()
        assert (agreed["marketing_consent"]["granted"], agreed["marketing_consent"]["source"]) == (
            True,
            "preference_page",
        )
        assert await _status_of_the_next(world, laila, "marketing") == "delivered"
        shown = await laila.browser.get(f"/p/{laila.token}?saved")
        assert re.findall(r'value="(\w+:\w+)" checked', shown.text) == ["marketing:email"]
        assert 'role="status"' in shown.text
        kinds = [line["kind"] for line in await laila.consents()]
    assert (kinds[0], "consent_withdrawn" in kinds, kinds.count("consent_granted")) == (
        "consent_granted",
        True,
        2,
    )


async def test_everything_off_and_some_of_it_on_again(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        await laila.save(do="all_off")
        assert (await laila.choices())["global_unsubscribed_at"] is not None
        assert await _status_of_the_next(world, laila, "social") == "suppressed"
        page = await laila.browser.get(f"/p/{laila.token}")
        assert " checked" not in page.text
        assert "all_off" not in page.text
        before = await laila.choices()
        await laila.save()
        assert await laila.choices() == before
        await laila.save("social:email")
        assert (await laila.choices())["global_unsubscribed_at"] is None
        assert await _status_of_the_next(world, laila, "social") == "delivered"
        assert await _status_of_the_next(world, laila, "reminder") == "suppressed"


async def test_the_later_of_two_windows_is_told_and_nothing_is_lost(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        version = await laila.version()
        first = await laila.save("social:email", version=version)
        second = await laila.save("reminder:email", version=version)
        without = await laila.browser.post(f"/p/{laila.token}", content=b"\xff\x00=&&&")
        assert (first.status_code, second.status_code, without.status_code) == (303, 412, 412)
        assert re.findall(r'value="(\w+:\w+)" checked', second.text) == ["social:email"]
        assert 'role="alert"' in second.text
        assert (await laila.choices())["version"] == 1


async def test_too_many_changes_by_one_link_wait(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        found = [(await laila.browser.post(f"/u/{laila.token}")).status_code for _ in range(31)]
        assert found == [200] * 30 + [429]
        assert (await laila.browser.get(f"/u/{laila.token}")).status_code == 200
        await world.clock.advance(timedelta(minutes=1))
        assert (await laila.browser.post(f"/u/{laila.token}")).status_code == 200


async def test_what_was_not_shown_is_not_said_no_to(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        opened = await laila.form()
        assert {pair.partition(":")[2] for pair in opened["shown"]} == {"email"}
        added = await sender.client.post(
            f"/api/v1/recipients/{laila.recipient_id}/addresses",
            json={"channel": "sms", "address": "+4915123400009"},
        )
        assert added.status_code == 201, added.text
        later = await laila.form()
        assert (later["version"], "social:sms" in later["shown"]) == (opened["version"], True)
        saved = await laila.save("reminder:email", "social:sms", form=opened)
        assert saved.status_code == 303
        chosen = (await laila.choices())["channels"]
        assert chosen == {"email": {"categories": {"academic": False, "operational": False, "social": False}}}
        # A page that does not say what it shows is one of yesterday: it is shown anew, and nothing is saved.
        old = await laila.save("social:email", form={"version": (await laila.form())["version"]})
        assert old.status_code == 412
        assert (await laila.choices())["channels"] == chosen


async def test_a_no_to_a_category_that_went_is_kept(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        async with world.db.tenant(sender.tenant_id) as tx:
            link = world.system.notify.links.make(
                sender.tenant_id,
                OptOutScope(recipient_id=laila.recipient_id, channel="email", category="gone"),
                pepper=await world.system.kernel.keyring.pepper(tx),
                at=world.clock.now(),
            )
            await world.system.notify.links.store(tx, [link])
        for _ in range(2):
            assert (await laila.browser.post(f"/u/{link.token.text}", data=ONE_CLICK)).status_code == 200
        assert (await laila.choices())["channels"] == {"email": {"categories": {"gone": False}}}
        lines = await laila.consents()
        assert [(line["kind"], line["category"]) for line in lines] == [("opted_out", "gone")]
        await sender.choose(laila.recipient_id, timezone="Asia/Kabul")


async def test_nothing_is_looked_up_for_what_is_no_token(world: PipelineWorld) -> None:
    browser = world.http.client()
    await world.clock.advance(timedelta(minutes=1))
    assert (await browser.get("/u/example")).status_code == 404
    # Other tests turn the clock back, and what was remembered then stays fresh for long.
    world.system.notify.categories.invalidate()
    with counting(world.db) as asked:
        assert (await browser.get("/p/example")).status_code == 404
    assert [table for table in asked.by_table() if "categories" in table or "tokens" in table] == []
    found = [(await browser.post("/u/example")).status_code for _ in range(59)]
    assert found == [404] * 58 + [429]
    await world.clock.advance(timedelta(minutes=1))


@pytest.mark.parametrize("error", [DatabaseBusyError, DatabaseUnavailableError, DatabaseFullError])
async def test_kind_words_while_the_database_is_away(
    world: PipelineWorld, monkeypatch: pytest.MonkeyPatch, error: type[DatabaseError]
) -> None:
    async def away(*_: object, **__: object) -> NoReturn:
        raise error("secret words of the server")

    monkeypatch.setattr(LinkVisits, "open", away)
    browser = world.http.client()
    token = "x" * 54
    for tag, words in languages().items():
        for path in ("u", "p", "c"):
            for method in ("GET", "POST"):
                page = await browser.request(
                    method, f"/{path}/{token}", headers={"Accept-Language": tag}, data=None
                )
                assert (page.status_code, page.headers["retry-after"]) == (503, "60")
                assert page.headers["content-type"].startswith("text/html")
                assert (words.down_title in page.text, f'dir="{words.direction}"' in page.text) == (
                    True,
                    True,
                )
                assert page.headers["content-security-policy"].startswith("default-src 'none'")
                assert (page.headers["cache-control"], page.headers["referrer-policy"]) == (
                    "no-store",
                    "no-referrer",
                )
                assert token not in page.text
                assert "secret words" not in page.text


async def test_nobody_can_post_a_long_body_there(world: PipelineWorld) -> None:
    """Announced or not; whole forms of the largest page fit, and what the API takes elsewhere does not."""
    too_long = b"x=" + b"y" * routes.MOST_BYTES

    async def unannounced() -> AsyncIterator[bytes]:
        for start in range(0, len(too_long), 8192):
            yield too_long[start : start + 8192]

    async with world.sender() as sender:
        laila = await visitor(world, sender)
        refused = [
            await laila.browser.post(f"/{path}/{laila.token}", content=body)
            for path in ("u", "p")
            for body in (too_long, unannounced())
        ]
        version = (await laila.choices())["version"]
        fits = await laila.browser.post(f"/u/{laila.token}", content=too_long[: routes.MOST_BYTES])
        elsewhere = await sender.client.post(
            "/api/v1/suppressions", content=too_long, headers={"Content-Type": "application/json"}
        )

    assert [(answer.status_code, answer.json()["code"]) for answer in refused] == [
        (413, "body_too_large")
    ] * 4
    assert version == 0
    assert fits.status_code == 200
    assert elsewhere.status_code == 400
