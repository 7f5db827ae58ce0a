"""Conversations in the console: who waits, what was said, the answer, and to whom it is shown."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.integration.notifications.world import publish_replies
from tests.integration.router.conversations.conftest import LAILA, ConversationWorld
from tests.support.channel_world import put_channel
from tests.support.http import http_over
from tests.support.operators import SignedIn, an_operator, quick_passwords
from tests.support.people import unused
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId

PAGES = "/console/conversations"
EVIL = "<script>alert(1)</script>"


@pytest.fixture
async def talk(db: Database, tmp_path: Path) -> AsyncIterator[ConversationWorld]:
    """People who write, and the whole application before them."""
    made = ConversationWorld(db, tmp_path)
    made.http = http_over(made.system)
    quick_passwords(made.http)
    yield made
    await made.close()
    await made.system.notify.renderer.close()
    await made.system.notify.authoring.close()


async def _operator(talk: ConversationWorld, tenant_id: TenantId, role: str = "tenant.admin") -> SignedIn:
    return await an_operator(talk.http, tenant_id, role=role, email=f"o-{unused()}")


async def _written(talk: ConversationWorld, tenant_id: TenantId, *texts: str) -> str:
    """Somebody writes; the conversation's id."""
    account = await talk.account(tenant_id)
    async with talk.client(tenant_id, "") as client:
        await put_channel(client, None, "sms", "http")
        await publish_replies(client)
    for text in texts:
        await talk.write(account, text)
        await talk.later(seconds=1)
    await talk.job().drain()
    [known] = await talk.conversations(tenant_id)
    return str(known["id"])


async def test_a_thread_is_read_answered_and_closed(talk: ConversationWorld) -> None:
    tenant_id = await talk.tenant()
    conversation = await _written(talk, tenant_id, "Which day?", f"And {EVIL}?")
    admin = await _operator(talk, tenant_id)
    at = admin.browser

    await at.open(PAGES)
    assert f"{PAGES}/{conversation}" in at.html
    assert "waits for an answer" in at.html
    thread = await at.open(f"{PAGES}/{conversation}")
    assert "Which day?" in thread.text
    assert EVIL not in thread.text
    assert LAILA not in thread.text
    assert thread.url.query.startswith(b"at=")
    key = thread.text.split('name="key" value="')[1].split('"')[0]
    await at.post(f"{PAGES}/{conversation}/answer", text="Tomorrow\r\nat ten.", key=key)
    assert "The answer is on its way." in at.html
    assert "Tomorrow\nat ten." in at.html
    await at.post(f"{PAGES}/{conversation}/answer", text="Tomorrow\r\nat ten.", key=key)
    found = (await admin.get(f"/api/v1/notifications?correlation_id={conversation}")).json()["items"]
    assert len(found) == 1
    empty = await at.post(f"{PAGES}/{conversation}/answer", text="   ")
    assert (empty.status_code, 'role="alert"' in empty.text) == (400, True)
    await at.open(f"{PAGES}/{conversation}")
    await at.post(f"{PAGES}/{conversation}/close", reason="dealt with")
    assert "The conversation is closed." in at.html
    assert "Send the answer" not in at.html
    late = await at.post(f"{PAGES}/{conversation}/answer", text="late")
    assert (late.status_code, "The conversation is over." in late.text) == (409, True)
    await at.open(PAGES)
    assert conversation not in at.html
    await at.open(f"{PAGES}?view=all")
    assert conversation in at.html


async def test_the_page_learns_of_news_without_reading_the_transcript_again(talk: ConversationWorld) -> None:
    tenant_id = await talk.tenant()
    conversation = await _written(talk, tenant_id, "hello")
    admin = await _operator(talk, tenant_id)
    at = admin.browser
    await at.open(f"{PAGES}/{conversation}")
    path = str(at.last and at.last.url)

    async def reads() -> int:
        async with talk.db.tenant(tenant_id) as tx:
            rows = await talk.audit.read_recent(tx, entity_type="conversation", entity_id=conversation)
        return [row.action for row in rows].count("transcript.read")

    before = await reads()
    same = await at.client.get(path, headers={"x-live": "1"})
    account = await talk.account(tenant_id)
    await talk.write(account, "anybody there?")
    await talk.job().drain()
    fresh = await at.client.get(path, headers={"x-live": "1"})

    assert "A new message has come." not in same.text
    assert "A new message has come." in fresh.text
    assert "anybody there?" not in fresh.text
    assert (before, await reads()) == (1, 1)
    await at.open(f"{PAGES}/{conversation}")
    assert "anybody there?" in at.html


async def test_who_may_not_read_sees_that_they_wrote_and_not_what(talk: ConversationWorld) -> None:
    tenant_id = await talk.tenant()
    conversation = await _written(talk, tenant_id, "my secret")
    who = await _operator(talk, tenant_id, "tenant.viewer")
    shown = await who.browser.open(f"{PAGES}/{conversation}")

    assert shown.status_code == 200
    assert "my secret" not in shown.text
    assert "and not what" in shown.text
    assert "Send the answer" not in shown.text
    for what in ("answer", "close"):
        await who.browser.open(f"{PAGES}/{conversation}")
        assert (await who.browser.post(f"{PAGES}/{conversation}/{what}", text="x")).status_code == 403


async def test_the_support_desk_answers(talk: ConversationWorld) -> None:
    tenant_id = await talk.tenant()
    conversation = await _written(talk, tenant_id, "Which day?")
    at = (await _operator(talk, tenant_id, "tenant.support")).browser
    shown = await at.open(f"{PAGES}/{conversation}")
    assert "Which day?" in shown.text
    await at.post(f"{PAGES}/{conversation}/answer", text="Tomorrow.", key=unused())

    assert "The answer is on its way." in at.html
    assert "Tomorrow." in at.html


async def test_segments_are_counted_while_somebody_types(talk: ConversationWorld) -> None:
    admin = await _operator(talk, await talk.tenant())
    at = admin.browser
    await at.open(PAGES)
    plain = await at.post(f"{PAGES}/segments", text="x" * 161)
    await at.open(PAGES)
    arabic = await at.post(f"{PAGES}/segments", text="س" * 70)

    assert "Text messages: 2 · characters: 161" in plain.text
    assert "Text messages: 1 · characters: 70" in arabic.text


async def test_the_platform_sees_how_often_nobodys_numbers_were_written_to(talk: ConversationWorld) -> None:
    tenant_id = await talk.tenant()
    operator = await an_operator(talk.http, None, email=f"p-{unused()}")
    at = operator.browser
    await at.open("/console/acting-for")
    await at.post("/console/acting-for", tenant=tenant_id)
    shown = await at.open(PAGES)
    tenants = await (await _operator(talk, tenant_id)).browser.open(PAGES)

    assert shown.status_code == 200
    assert "Numbers that are nobody" in shown.text
    assert "Numbers that are nobody" not in tenants.text


async def test_a_frozen_tenants_thread_is_not_read(talk: ConversationWorld) -> None:
    tenant_id = await talk.tenant()
    conversation = await _written(talk, tenant_id, "hello")
    admin = await _operator(talk, tenant_id)
    async with talk.db.platform() as tx:
        await tx.connection.execute(
            "UPDATE notification.tenants_local SET frozen_at = now() WHERE tenant_id = $1", tenant_id
        )
    talk.system.access.gate.forget(tenant_id)
    shown = await admin.browser.open(f"{PAGES}/{conversation}")

    assert shown.status_code == 200
    assert "is frozen" in shown.text
    assert "hello" not in shown.text
