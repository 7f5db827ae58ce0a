"""A mail carries the pictures that it shows, each once, and reads them from memory."""

import email
import email.policy

import pytest

from tests.integration.pipeline.files import file_of
from tests.integration.templates.drafts import draft
from tests.support.people import unused
from tests.support.pictures import GIF, JPEG, png
from tests.support.pipeline import HOME, PipelineWorld
from tidings.sandbox.reading import page_html

pytestmark = pytest.mark.xdist_group("pipeline-pictures")

LOGO = png(2_000)


async def test_a_mail_carries_what_it_shows(world: PipelineWorld) -> None:
    to, plain = f"{unused()}@example.test", f"{unused()}@example.test"
    wish = draft()
    wish["locales"]["en"]["body"] = (
        '<p>Hello {{name}} <img src="cid:logo.png"><img src="cid:logo.png">'
        '{{#if url}}<img src="cid:wide.gif">{{/if}}<img src="cid:ticket@order"></p>'
    )
    path = "/api/v1/templates/welcome/email/versions"
    async with world.sender() as sender:
        await sender.client.post(path, json=wish)
        await sender.client.put(f"{path}/1.0.0/assets/logo.png", content=LOGO)
        await sender.client.put(f"{path}/1.0.0/assets/wide.gif", content=GIF)
        published = await sender.client.post(f"{path}/1.0.0/publish")
        assert published.status_code == 200, published.text
        own = file_of(JPEG, filename="logo.png", media_type="image/jpeg", inline_cid="ticket@order")
        sent = await sender.send(to, template="welcome", variables={"name": "Laila"}, attachments=[own])
        both = {"name": "Laila", "url": "https://tidings.test/"}
        await sender.send(plain, template="welcome", variables=both)
        await world.settle()
        body = (await sender.client.get(f"{HOME}/{sent['id']}/body")).json()

    [received] = world.sandbox.store.find(to=to)
    message = email.message_from_bytes(received.raw, policy=email.policy.default)
    inline = [part for part in message.walk() if part["content-id"]]
    assert [part.get_payload(decode=True) for part in inline] == [LOGO, JPEG]
    assert [part.get_content_type() for part in inline] == ["image/png", "image/jpeg"]
    cid = str(inline[0]["content-id"]).strip("<>")
    assert cid.startswith("logo.png@")
    assert f'src="cid:{cid}"' in body["html"]
    assert (body["pictures"], body["exact"]) == (["logo.png"], True)
    shown = page_html(received)
    assert shown.count("data:image/png;base64,") == 2
    assert shown.count("data:image/jpeg;base64,") == 1

    [second] = world.sandbox.store.find(to=plain)
    message = email.message_from_bytes(second.raw, policy=email.policy.default)
    assert {part.get_payload(decode=True) for part in message.walk() if part["content-id"]} == {LOGO, GIF}
