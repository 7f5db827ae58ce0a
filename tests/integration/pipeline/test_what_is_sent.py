"""What reaches the vendor: the words of the moment of acceptance, the files, and nothing of a test."""

import email
import email.policy
import json
from typing import Any

import pytest

from tests.integration.pipeline.books import books, change
from tests.integration.pipeline.files import file_of
from tests.integration.templates.drafts import draft, later
from tests.support.people import unused
from tests.support.pipeline import HOME, PipelineWorld, Sender, order, person
from tidings.contracts.channel_configs import ConfigureAccount

pytestmark = pytest.mark.xdist_group("pipeline-sent")

CODE: dict[str, Any] = {"template": "otp", "variables": {"code": "482915"}, "channel": "auto"}


async def test_the_version_is_frozen_when_it_is_accepted(world: PipelineWorld) -> None:
    early, late = f"{unused()}@example.test", f"{unused()}@example.test"
    async with world.sender() as sender:
        path = "/api/v1/templates/welcome/email/versions"
        await _publish(sender, path, draft("1.0.0"))
        sent = await sender.send(early, template="welcome", variables={"name": "Laila"})
        await _publish(sender, path, later("1.1.0"))
        await sender.send(late, template="welcome", variables={"name": "Laila"})
        await world.settle()
        told = await sender.explain(sent["id"])
    assert [m.subject for m in world.received(early)] == ["Hello Laila 1.0.0"]
    assert [m.subject for m in world.received(late)] == ["Hello Laila 1.1.0"]
    assert told["template"]["version"] == "1.0.0"


async def test_a_step_that_cannot_carry_the_files_says_that_it_left_them_out(world: PipelineWorld) -> None:
    """Named, the channel is refused with its files; chosen by the ladder, it goes without them, and explain says so."""
    somebody = {"addresses": [{"channel": "sms", "address": "+4915123470001"}]}
    files = [file_of(b"x")]
    async with world.sender(channels=("email", "sms")) as sender:
        wish = order(**CODE, recipient=somebody, attachments=files)
        refused = await sender.client.post(HOME, json=wish | {"channel": "sms"})
        sent = await sender.send(**CODE, recipient=somebody, attachments=files)
        await world.settle()
        told = await sender.explain(sent["id"])

    assert (refused.status_code, [e["field"] for e in refused.json()["errors"]]) == (400, ["attachments"])
    left_out = "The attached files were left out: this channel can't carry them."
    assert told["notification"]["final_channel"] == "sms"
    assert left_out in told["summary"]
    (line,) = [line for line in told["decision"] if line["reason"] == "files_left_out"]
    assert (line["gate"], line["verdict"], line["explanation"]) == ("attachments", "pass", left_out)
    [call] = [one for one in told["timeline"] if one["kind"] == "attempt"]
    assert (call["channel"], call["step"], call["text"].endswith(left_out)) == ("sms", line["step"], True)


async def test_one_batch_writes_to_a_person_over_several_channels(world: PipelineWorld) -> None:
    """Each notification brings the addresses of its own channel along."""
    mail, phone = f"{unused()}@example.test", "+4915123470002"
    somebody = person(mail, phone)
    async with world.sender(channels=("email", "sms")) as sender:
        for channel in ("sms", "email", "auto"):
            await sender.send(**CODE | {"channel": channel}, recipient=somebody)
        await world.settle()

    assert (len(world.received(mail)), len(world.received(phone))) in {(2, 1), (1, 2)}


async def test_the_vendor_is_told_the_language_of_the_words(world: PipelineWorld) -> None:
    """That of the text which was found, not the one that was looked for."""
    vendor = f"http_{unused()[:12]}"
    secret = json.loads((world.folder / "secrets" / "http.json").read_text())
    secret["body"] = {"to": "{{to}}", "from": "{{from}}", "text": "{{text}}", "subject": "{{language}}"}
    file = world.folder / "secrets" / f"{vendor}.json"
    file.write_text(json.dumps(secret))
    file.chmod(0o600)
    command = ConfigureAccount(vendor=vendor, secret_ref=f"file://{file.name}")
    async with world.db.platform() as tx:
        await world.system.router.adapter_configs.configure_platform(tx, [command], actor="test")
    async with world.sender(channels=("sms",)) as sender:
        await sender.channel("sms", vendor=vendor)
        for phone, locale in (("+4915123470077", "ps-AF"), ("+4915123470078", "de")):
            await sender.send(**(CODE | {"channel": "sms", "recipient": person(phone, locale=locale)}))
        await world.settle()

    assert [m.subject for m in world.received("+4915123470077")] == ["ps-AF"]
    assert [m.subject for m in world.received("+4915123470078")] == ["en"]


async def test_files_arrive_byte_for_byte(world: PipelineWorld) -> None:
    to, content = f"{unused()}@example.test", bytes(range(256)) * 300
    picture = b"\x89PNG\r\n\x1a\n" + bytes(range(255, -1, -1))
    files = [
        file_of(content, filename="Rechnung Nr. 7 – März.pdf", media_type="application/pdf"),
        file_of(picture, filename="logo.png", media_type="image/png", inline_cid="logo"),
        file_of(b".\r\n..\r\nFrom me\r\n", filename="dots.txt", media_type="text/plain"),
    ]
    async with world.sender() as sender:
        before = await books(sender)
        sent = await sender.send(to, attachments=files)
        assert change(before, await books(sender))["files"] == 3
        await world.settle()
        assert await sender.status(sent["id"]) == "delivered"
        for path in (world.folder / "blobs").rglob(f"*{sender.tenant_id}*/**/*"):
            assert not path.is_file() or picture[:16] not in path.read_bytes(), "sealed where it lies"
    [received] = world.sandbox.store.find(to=to)
    message = email.message_from_bytes(received.raw, policy=email.policy.default)
    found = {part.get_filename(): part for part in message.walk() if part.get_filename()}
    assert {name: part.get_payload(decode=True) for name, part in found.items()} == {
        "Rechnung Nr. 7 – März.pdf": content,
        "logo.png": picture,
        "dots.txt": b".\r\n..\r\nFrom me\r\n",
    }
    assert found["logo.png"]["content-id"] == "<logo>"
    assert found["logo.png"].get_content_disposition() == "inline"
    assert found["dots.txt"].get_content_disposition() == "attachment"


async def test_a_guardians_copy_brings_the_files_along(world: PipelineWorld) -> None:
    to, guardian = f"{unused()}@example.test", f"{unused()}@example.test"
    async with world.sender() as sender:
        made = [
            (await sender.client.post("/api/v1/recipients", json=person(a))).json()["id"]
            for a in (to, guardian)
        ]
        await sender.choose(made[0], guardian_routing={"guardian_id": made[1], "mode": "copy"})
        await sender.send(recipient=made[0], attachments=[file_of(b"the same")])
        await world.settle()
    for address in (to, guardian):
        [received] = world.sandbox.store.find(to=address)
        message = email.message_from_bytes(received.raw, policy=email.policy.default)
        assert [part.get_content() for part in message.iter_attachments()] == ["the same"]


async def test_a_test_key_reaches_no_vendor(world: PipelineWorld) -> None:
    to = f"{unused()}@example.test"
    await world.settle()
    received = dict(world.sandbox.store.received)
    async with world.sender() as sender:
        async with world.http.as_tenant(sender.tenant_id, environment="test") as client:
            answers = [
                await client.post(HOME, json=order(to)),
                await client.post(HOME, json=order(recipient=person(to, "+4915123400002"), **CODE)),
            ]
            bulk = await client.post(f"{HOME}/bulk", json={"notifications": [order(to)]})
        await world.settle()
        for id_ in [*(a.json()["id"] for a in answers), bulk.json()["results"][0]["id"]]:
            told = await sender.explain(id_)
            assert told["notification"]["is_test"] is True
            assert told["notification"]["status"] == "delivered"
            assert [a["vendor"] for a in told["attempts"]] == ["simulated"]
    assert world.sandbox.store.received == received


@pytest.mark.parametrize(
    ("name", "number", "status", "reason"),
    [
        ("delivered", "+15005550001", "delivered", None),
        ("bounce", "+15005550002", "failed", "5.1.1"),
        ("refused", "+15005550003", "failed", "5.7.1"),
        ("later", "+15005550004", "dispatched", None),
        ("unlearned", "+15005550005", "dispatched", None),
    ],
)
async def test_simulated_addresses(
    world: PipelineWorld, name: str, number: str, status: str, reason: str | None
) -> None:
    await world.settle()
    received = dict(world.sandbox.store.received)
    async with world.sender() as sender:
        sent = [
            await sender.send(f"{name}+{unused()}@simulator.tidings.test"),
            await sender.send(recipient=person(number), **CODE | {"channel": "sms"}),
        ]
        await world.settle()
        for one in sent:
            told = (await sender.explain(one["id"]))["notification"]
            assert (told["status"], told["reason"]) == (status, reason)
    assert world.sandbox.store.received == received


async def test_auto_goes_by_what_there_are_words_and_addresses_for(world: PipelineWorld) -> None:
    to, phone = f"{unused()}@example.test", "+4915123400003"
    async with world.sender() as sender:
        both = await sender.send(recipient=person(to, phone), **CODE)
        await world.settle()
        by_phone = await sender.send(recipient=person(phone), **CODE)
        no_words = await sender.send(recipient=person(phone), channel="auto")
        await world.settle()
        found = [(await sender.explain(one["id"]))["notification"] for one in (both, by_phone, no_words)]
    assert [one["final_channel"] for one in found] == ["email", "sms", None]
    assert [(one["status"], one["reason"]) for one in found][2] == ("failed", "no_address")
    assert (len(world.received(to)), len(world.received(phone))) == (1, 1)


async def test_urgent_means_critical(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        sent = await sender.send(priority="urgent")
        [queued] = await sender.rows("SELECT priority FROM notification.dispatch_queue")
        told = await sender.explain(sent["id"])
    assert (queued["priority"], told["notification"]["priority"]) == (0, "critical")


async def _publish(sender: Sender, path: str, body: dict[str, Any]) -> None:
    made = await sender.client.post(path, json=body)
    assert made.status_code == 201, made.text
    done = await sender.client.post(f"{path}/{body['semver']}/publish")
    assert done.status_code == 200, done.text
