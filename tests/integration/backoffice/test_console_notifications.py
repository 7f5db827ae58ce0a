"""The notification explorer: what it shows, to whom, and what its buttons do."""

from datetime import timedelta

import pytest

from tests.integration.backoffice.sent import ConsoleWorld, words_of
from tests.support.people import unused
from tidings.contracts.tenants import NotificationPolicy

PAGES = "/console/notifications"
EVIL = "<script>alert(1)</script>"


def _in_two_days(sent: ConsoleWorld) -> str:
    return (sent.system.clock.now() + timedelta(days=2)).isoformat()


async def test_the_list_has_filters_in_its_address_and_escapes_what_callers_wrote(sent: ConsoleWorld) -> None:
    admin = await sent.operator(await sent.house())
    failed = await sent.sent(admin, status="failed", correlation_id=EVIL)
    other = await sent.sent(admin, status="bounced", correlation_id="B-1")
    at = admin.browser

    await at.open(PAGES)
    assert f"{PAGES}/{failed}" in at.html
    assert f"{PAGES}/{other}" in at.html
    assert EVIL not in at.html
    assert "&lt;script&gt;" in at.html
    assert 'data-live="5"' in at.html
    assert "Laila" in words_of(at.html).replace("Laila Noor", "")
    await at.open(f"{PAGES}?status=failed")
    assert f"{PAGES}/{failed}" in at.html
    assert f"{PAGES}/{other}" not in at.html
    assert '<option value="failed" selected>' in at.html
    await at.open(f"{PAGES}?correlation_id=B-1&since=2020-01-01&until=2999-01-01")
    assert f"{PAGES}/{other}" in at.html
    assert f"{PAGES}/{failed}" not in at.html
    await at.open(f"{PAGES}?correlation_id=nobody")
    assert "No notification fits these filters" in at.html
    refused = await at.open(f"{PAGES}?since=yesterday")
    assert refused.status_code == 400
    assert 'role="alert"' in refused.text


async def test_the_page_of_one_says_why_and_what_to_do(sent: ConsoleWorld) -> None:
    admin = await sent.operator(await sent.house())
    waiting = await sent.sent(admin, scheduled_for=_in_two_days(sent), metadata={"note": EVIL})
    at = admin.browser

    await at.open(f"{PAGES}/{waiting}")
    said = words_of(at.html)
    assert "It waits, and was not sent yet" in said
    assert "What to do next" in said
    assert "Laila" in said
    assert EVIL not in at.html
    await at.open(f"{PAGES}/{waiting}?raw=1")
    assert "&quot;summary&quot;" in at.html
    refused = await at.post(f"{PAGES}/{waiting}/resend")
    assert refused.status_code == 409
    assert "It is still under way" in refused.text
    await at.post(f"{PAGES}/{waiting}/cancel")
    assert "It was cancelled." in at.html
    assert "It was cancelled before it was sent" in words_of(at.html)
    old = waiting
    await at.post(f"{PAGES}/{old}/resend")
    assert "It was sent again" in at.html
    assert f"{PAGES}/{old}" in at.html
    twice = await at.open(f"{PAGES}?status=cancelled")
    assert twice.status_code == 200
    assert (await at.open(f"{PAGES}/ntf_{'0' * 26}")).status_code == 404


async def test_a_button_that_is_pressed_twice_sends_once(sent: ConsoleWorld) -> None:
    admin = await sent.operator(await sent.house())
    old = await sent.sent(admin, status="bounced")
    at = admin.browser
    await at.open(f"{PAGES}/{old}")
    key = at.html.split('name="key" value="')[1].split('"')[0]
    first = await at.post(f"{PAGES}/{old}/resend", follow=False, key=key)
    await at.open(f"{PAGES}/{old}")
    again = await at.post(f"{PAGES}/{old}/resend", follow=False, key=key)

    assert first.headers["location"] == again.headers["location"]


async def test_words_stand_in_a_frame_that_runs_and_loads_nothing(sent: ConsoleWorld) -> None:
    admin = await sent.operator(await sent.house())
    made = await sent.sent(admin, variables={"name": EVIL})
    at = admin.browser
    await at.open(f"{PAGES}/{made}")
    assert "<iframe" not in at.html
    await at.open(f"{PAGES}/{made}?show=body")
    assert f'src="{PAGES}/{made}/body"' in at.html
    assert "sandbox title=" in at.html or " sandbox" in at.html
    words = await at.open(f"{PAGES}/{made}/body")
    policy = words.headers["content-security-policy"]

    assert words.status_code == 200
    assert EVIL not in words.text
    assert "default-src 'none'" in policy
    assert "sandbox;" in policy
    assert "script-src" not in policy
    assert "frame-ancestors 'self'" in policy
    assert words.headers["x-frame-options"] == "SAMEORIGIN"


@pytest.mark.parametrize("role", ["tenant.viewer", "tenant.support"])
async def test_a_role_sees_and_does_what_it_may(sent: ConsoleWorld, role: str) -> None:
    house = await sent.house()
    admin = await sent.operator(house)
    address = f"laila-{unused()}@example.test"
    person = {
        "identity": {"type": "guest", "id": unused()},
        "addresses": [{"channel": "email", "address": address}],
    }
    made = await sent.sent(admin, status="failed", recipient=person)
    who = await sent.operator(house, role)
    at = who.browser
    helps = role == "tenant.support"

    await at.open(f"{PAGES}/{made}")
    assert ("Send again" in at.html) is helps
    assert ("Show the message" in at.html) is helps
    assert address not in at.html
    words = await at.open(f"{PAGES}/{made}/body")
    assert ("Hello" in words.text or "Laila" in words.text) is helps
    await at.open(f"{PAGES}/{made}")
    again = await at.post(f"{PAGES}/{made}/resend", follow=False)
    assert again.status_code == (303 if helps else 403)
    await at.open("/console/find")
    await at.post("/console/find", q=address)
    assert made in at.html
    assert address not in at.html


async def test_an_address_is_found_by_post_and_stands_in_no_address_of_ours(sent: ConsoleWorld) -> None:
    house = await sent.house()
    admin = await sent.operator(house)
    address = f"kamran-{unused()}@example.test"
    person = {
        "identity": {"type": "guest", "id": unused()},
        "display_name": EVIL,
        "addresses": [{"channel": "email", "address": address}],
    }
    made = await sent.sent(admin, recipient=person)
    held = await admin.post(
        "/api/v1/suppressions", {"channel": "email", "address": address, "reason": "hard_bounce"}
    )
    at = admin.browser

    asked = await at.open(f"/console/find?q={address}")
    assert made not in asked.text
    assert "not looked up from a link" in asked.text
    found = await at.post("/console/find", follow=False, q=f" {address} ")
    assert found.status_code == 200
    assert made in found.text
    assert held.json()["id"] in found.text
    assert "This address is suppressed now" in found.text
    assert "&lt;script&gt;" in found.text
    assert EVIL not in found.text
    assert address not in found.text
    nobody = await at.post("/console/find", q=f"nobody-{unused()}@example.test")
    assert "Nothing was found" in nobody.text
    wrong = await at.post("/console/find", q="no@body@nowhere")
    assert wrong.status_code in (400, 422)
    forged = await admin.browser.client.post("/console/find", data={"q": address})
    assert forged.status_code == 403


async def test_words_are_found_as_order_numbers_metadata_templates_and_ids(sent: ConsoleWorld) -> None:
    house = await sent.house(policy=NotificationPolicy(searchable_metadata=("room",)))
    admin = await sent.operator(house)
    identity = f"g-{unused()}"
    person = {"identity": {"type": "guest", "id": identity}}
    await admin.post("/api/v1/recipients", {**person, "display_name": "Mina"})
    made = await sent.sent(admin, correlation_id="A-77", metadata={"room": "204"})
    at = admin.browser
    await at.open("/console/find")

    async def leads(text: str) -> str:
        answer = await at.post("/console/find", follow=False, q=text)
        await at.open("/console/find")
        return str(answer.headers.get("location", answer.status_code))

    assert await leads("A-77") == f"{PAGES}?correlation_id=A-77"
    assert await leads("204") == f"{PAGES}?name=room&value=204"
    assert await leads("welcome") == f"{PAGES}?template=welcome"
    assert (await leads(identity)).startswith("/console/people/rcp_")
    assert await leads(made) == f"{PAGES}/{made}"
    assert await leads("no such thing") == "200"
    await at.open(f"{PAGES}?name=room&value=204")
    assert made in at.html
    word = await at.open("/console/find?q=A-77")
    assert made in word.text


async def test_a_suppression_is_released_from_the_page(sent: ConsoleWorld) -> None:
    house = await sent.house()
    admin = await sent.operator(house)
    held = await admin.post(
        "/api/v1/suppressions", {"channel": "email", "address": f"{unused()}@example.test"}
    )
    made = await sent.sent(admin, status="suppressed")
    at = admin.browser
    await at.open(f"{PAGES}/{made}")
    path = f"{PAGES}/{made}/release-suppression"
    await at.post(path, suppression=held.json()["id"], reason="ticket 4711")
    assert "The suppression was released." in at.html
    history = (await admin.get(f"/api/v1/suppressions/{held.json()['id']}/history")).json()["items"]
    assert [one["why"] for one in history if one["what"] == "released"] == ["ticket 4711"]
    again = await at.post(path, suppression=held.json()["id"])
    assert again.status_code == 409
    assert "It was released before." in again.text


async def test_the_platforms_people_choose_a_tenant_first(sent: ConsoleWorld) -> None:
    operator = await sent.operator(None, "platform.support")  # type: ignore[arg-type]
    shown = await operator.browser.open(PAGES)

    assert "acting-for" in str(shown.url)


async def test_the_platforms_support_looks_for_a_tenant_and_changes_nothing(sent: ConsoleWorld) -> None:
    house = await sent.house()
    admin = await sent.operator(house)
    made = await sent.sent(admin, status="failed")
    person = (await admin.get(f"/api/v1/notifications/{made}")).json()["recipient_id"]
    helper = await sent.operator(None, "platform.support")  # type: ignore[arg-type]
    at = helper.browser
    await at.open("/console/acting-for")
    await at.post("/console/acting-for", tenant=house)

    for path in (
        PAGES,
        f"{PAGES}/{made}",
        f"/console/people/{person}",
        "/console/suppressions",
        "/console/imports",
        "/console/conversations",
    ):
        assert (await at.open(path)).status_code == 200, path
    shown = await at.open(f"{PAGES}/{made}")
    assert "Send again" not in shown.text
    assert (await at.post(f"{PAGES}/{made}/resend")).status_code == 403
