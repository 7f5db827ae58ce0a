"""Hostile Handlebars and HTML: refused at publish with the place and the remedy, or harmless in the message."""

import asyncio
import os
import signal
from typing import Any

import pytest

from tests.integration.pipeline.books import books, change
from tests.integration.templates.drafts import draft
from tests.support.people import unused
from tests.support.pipeline import HOME, ORDERED, PipelineWorld, Sender, order, person

pytestmark = pytest.mark.xdist_group("pipeline-hostile")

NUMBERS = {
    "variables_schema": {
        "type": "object",
        "required": ["a"],
        "additionalProperties": False,
        "properties": {"a": {"type": "array", "items": {"type": "number"}}},
    },
    "preview_samples": {"usual": {"a": list(range(100))}},
}


def _within(opening: str, closing: str, times: int, inside: str = "x") -> str:
    return opening * times + inside + closing * times


#: A body, and a part of what is said about it.
REFUSED: dict[str, tuple[str, str]] = {
    "deep nesting": (_within("{{#if name}}", "{{/if}}", 3000), "nested more than 100 deep"),
    "the constructor": ("{{constructor.constructor}}", "is not declared"),
    "the prototype": ("{{__proto__}}", "is not declared"),
    "a value's constructor": ("{{name.constructor}}", "is not declared"),
    "the root's constructor": ("{{@root.constructor}}", "is not declared"),
    "endless partials": ('{{#*inline "a"}}{{> a}}{{/inline}}{{> a}}', "nest more than 16 deep"),
    "partials that call each other": (
        '{{#*inline "a"}}xx{{> b}}{{/inline}}{{#*inline "b"}}{{> a}}{{/inline}}{{> a}}',
        "nest more than 16 deep",
    ),
    "somebody else's partial": ("{{> secrets}}", "there is no partial secrets"),
    "a helper of the library's own": ("{{log name}}", "there is no helper log"),
    "the helper that is missing": ("{{helperMissing name}}", "there is no helper"),
    "HTML as it comes": ("{{{name}}}", "use two braces"),
    "loops in loops": (_within("{{#each @root.a}}", "{{/each}}", 5), "steps"),
    "a block that does not end": ("{{#if name}}", "is not closed"),
    "a script": ("<script>alert(1)</script>", "<script> is not allowed"),
    "a script in a drawing": ("<svg><script>alert(1)</script></svg>", "<script> is not allowed"),
    "a frame": ("<iframe src='https://evil.test'></iframe>", "<iframe> is not allowed"),
    "a form": ("<form action='https://evil.test'><input name=p></form>", "<form> is not allowed"),
    "a link that runs": ("<a href='javascript:alert(1)'>x</a>", "must begin with one of"),
    "a picture that runs": ("<img src=x onerror=alert(1)>", "must begin with one of"),
    "a style that runs": ("<style>p{background:url(javascript:x)}</style>", "fetch or run"),
    "a style from elsewhere": ("<link rel=stylesheet href='https://evil.test/x.css'>", "fetch a style sheet"),
    "an object": ("<object data='https://evil.test/x'></object>", "fetches something from elsewhere"),
    "a value between attributes": ("<p {{name}}>x</p>", "inside an attribute's value"),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_what_is_refused_at_publish(world: PipelineWorld, name: str) -> None:
    body, remedy = REFUSED[name]
    facts = NUMBERS if name == "loops in loops" else {}
    async with world.sender(channels=()) as sender:
        path = await _draft(sender, body, **facts)
        before = await books(sender)
        answer = await sender.client.post(f"{path}/1.0.0/publish")
        problem = answer.json()
        assert (answer.status_code, problem["code"]) == (400, "template_unpublishable"), answer.text
        assert {error["field"] for error in problem["errors"]} == {"locales.en.body"}
        assert remedy in problem["errors"][0]["remedy"], problem["errors"]
        assert change(before, await books(sender)) == {}
        assert (await sender.client.get(f"{path}/1.0.0")).json()["status"] == "draft"
        refused = await sender.client.post(HOME, json=order(template=path.split("/")[4], variables={}))
        assert refused.json()["errors"][0]["field"] == "template", "nothing is sent by a draft"


#: A body that is taken, and what must not be in the message.
HARMLESS: dict[str, tuple[str, tuple[str, ...]]] = {
    "a looked-up constructor": ('{{lookup name "constructor"}}', ("function", "native")),
    "a looked-up prototype": ('{{lookup this "__proto__"}}', ("object",)),
    "inside a looked-up constructor": (
        '{{#with (lookup name "constructor")}}{{this}}{{/with}}',
        ("function", "native"),
    ),
    "handlers": ("<p onclick='alert(1)' onmouseover=alert(1)>a</p>", ("onclick", "onmouseover", "alert")),
    "a drawing that runs": ("<svg onload=alert(1)><path d=M0/></svg>", ("<svg", "alert")),
    "a refresh": ("<meta http-equiv=refresh content='0;url=https://evil.test'>", ("refresh", "evil.test")),
    "another base": ("<base href='https://evil.test/'>", ("<base", "evil.test")),
    "a comment for one program": ("<!--[if IE]><script>alert(1)</script><![endif]-->", ("<script", "alert")),
}


@pytest.mark.parametrize("name", HARMLESS)
async def test_what_is_harmless_in_the_message(world: PipelineWorld, name: str) -> None:
    body, absent = HARMLESS[name]
    async with world.sender() as sender:
        path = await _draft(sender, body)
        published = await sender.client.post(f"{path}/1.0.0/publish")
        assert published.status_code == 200, published.text
        to = f"{unused()}@example.test"
        await sender.send(to, template=path.split("/")[4], variables={"name": "Laila"})
        await world.settle()
    [message] = world.received(to)
    assert message.html is not None
    assert "Hello Laila" in message.html
    assert not [word for word in absent if word in message.html.lower()], message.html


#: What somebody may call an order, a thing or themselves.
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "{{constructor.constructor 'return process'}}",
    "{{#each items}}{{this}}{{/each}}",
    "${7*7}",
    "A\r\nBcc: evil@example.test",
    "A\nSubject: other",
    "\u202eevil",
    "--tidings\r\nContent-Type: text/html",
    ".\r\nQUIT",
]


@pytest.mark.parametrize("value", HOSTILE)
async def test_a_hostile_value_is_only_text(world: PipelineWorld, value: str) -> None:
    to = f"{unused()}@example.test"
    variables = ORDERED | {"order_number": value[:64], "items": [{"name": value, "quantity": 1}]}
    async with world.sender() as sender:
        sent = await sender.send(to, variables=variables)
        await world.settle()
        assert await sender.status(sent["id"]) == "delivered"
    [message] = world.received(to)
    assert message.html is not None
    markup = message.html.lower()
    for tag in ("<script", "<img src=x", "onmouseover='alert"):
        assert tag not in markup.replace("&#x27;", "").replace("&quot;", "")
    headers = {name.lower() for name in message.headers}
    assert not headers & {"bcc"}
    assert message.to == to
    assert message.subject is not None
    assert message.subject.startswith("Your order")
    assert not world.received("evil@example.test")


async def test_a_hostile_name_of_a_person_is_only_text(world: PipelineWorld) -> None:
    to = f"{unused()}@example.test"
    name = '"Laila" <x@evil.test>, <script>alert(1)</script>'
    async with world.sender() as sender:
        await sender.send(recipient=person(to, display_name=name))
        await world.settle()
    [message] = world.received(to)
    assert message.html is not None
    assert "<script" not in message.html
    assert message.to == to
    assert not world.received("x@evil.test")


async def _draft(sender: Sender, body: str, **facts: Any) -> str:
    path = f"/api/v1/templates/t-{unused()}/email/versions"
    greeting = "" if facts else "<p>Hello {{name}}</p>"
    locales = {"en": {"format": "html", "subject": "A subject", "body": f"<p>{body}</p>{greeting}"}}
    if body.startswith("<") and not body.startswith("<p {{"):
        locales["en"]["body"] = f"{body}{greeting}"
    answer = await sender.client.post(path, json=draft(locales=locales, **facts))
    assert answer.status_code == 201, answer.text
    return path


async def test_what_rendering_did_not_begin_is_sent_later(world: PipelineWorld) -> None:
    """The child is ended while a message waits for it, as it is when the process stops: nobody is to blame."""
    address, renderer = f"{unused()}@example.test", world.system.notify.renderer
    await renderer.open()
    before = renderer.pids
    for pid in before:
        os.kill(pid, signal.SIGSTOP)
    async with world.sender() as sender:
        sent = await sender.send(address)
        settling = asyncio.create_task(world.settle())
        while not renderer.at_work:
            await asyncio.sleep(0.01)
        await renderer.close()
        await settling
        status = await sender.status(sent["id"])

    assert [m.to for m in world.received(address)] == [address]
    assert status == "delivered"
    assert not set(before) & set(renderer.pids)


async def test_a_message_that_runs_away_fails_by_itself(world: PipelineWorld) -> None:
    """Blocks in a loop, as publishable as any; its neighbours and other tenants get theirs."""
    body = "<p>{{#each a}}" + "{{#if ../a}}{{/if}}" * 1000 + "{{/each}}x</p>"
    address = f"{unused()}@example.test"
    async with world.sender() as sender, world.sender() as other:
        path = await _draft(sender, body, **NUMBERS | {"preview_samples": {"usual": {"a": [1]}}})
        (await sender.client.post(f"{path}/1.0.0/publish")).raise_for_status()
        wish = {"template": path.split("/")[4]}
        long, short = [await sender.send(**wish, variables={"a": [0] * count}) for count in (19_000, 1)]
        await other.send(address)
        await world.settle()
        told, statuses = (
            await sender.explain(long["id"]),
            [await sender.status(one["id"]) for one in (long, short)],
        )

    assert statuses == ["failed", "delivered"]
    assert "render_too_many_steps" in str(told)
    assert len(world.received(address)) == 1
