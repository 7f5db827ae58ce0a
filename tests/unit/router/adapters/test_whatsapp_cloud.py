"""WhatsApp: the request on the wire, what Meta's errors mean, what its callbacks say."""

import base64
import hashlib
import hmac
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from tests.support import played_http as http
from tests.support.vendors import MESSAGE
from tidings.contracts.adapters import Adapter, Capabilities
from tidings.contracts.callback_forms import (
    Challenges,
    Details,
    HookReply,
    ParsedCallback,
    RawCallback,
    UnverifiedCallback,
    VerifiedCallback,
)
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater, Unlearned
from tidings.contracts.vendor_templates import TemplateButton, TemplateHeader, VendorTemplate
from tidings.kernel.clock import SystemClock
from tidings.kernel.http.errors import MalformedBodyError, WrongContentTypeError
from tidings.kernel.refusals import InvalidError
from tidings.router.adapters.kind import AdapterContext
from tidings.router.adapters.whatsapp_cloud.adapter import KIND, WhatsAppSettings
from tidings.router.adapters.whatsapp_cloud.callbacks import WhatsAppForm, message_name

NUMBER = "106540352242922"
TEXT = replace(MESSAGE, channel="whatsapp", to="+93701234567", html=None)
TEMPLATE = VendorTemplate(name="order_ready", language="en_US", parameters=("Laila", "two\nbags\t of   tea"))
ACCEPTED = http.answer("200 OK", b'{"messages":[{"id":"wamid.A1"}]}')
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
FORM = WhatsAppForm()
KEYS = {"secret": "the-old-secret-01 the-new-secret-02", "verify_token": "a-word"}


@asynccontextmanager
async def played(*answers: bytes, **more: Any) -> AsyncIterator[tuple[Adapter, http.PlayedHttp]]:
    """An account whose vendor gives these answers."""
    async with http.played_http(*answers) as vendor:
        settings = {
            "api_url": f"http://127.0.0.1:{vendor.port}/v24.0/",
            "phone_number_id": NUMBER,
            "access_token": "EAAJB-token",
            **more,
        }
        read = msgspec.convert(settings, WhatsAppSettings)
        adapter = KIND.adapter(read, AdapterContext(clock=SystemClock()))
        try:
            yield adapter, vendor
        finally:
            await adapter.close()


async def sent(status: str, error: dict[str, Any]) -> Outcome:
    """What becomes of a message that Meta answers so."""
    answer = http.answer(status, msgspec.json.encode({"error": error}))
    async with played(answer) as (adapter, _):
        (outcome,) = await adapter.send([TEXT])
    return outcome


async def test_a_text_goes_out_as_meta_wants_it() -> None:
    """Without a picture of what its links lead to; an answer arrives under the number's id."""
    async with played(ACCEPTED) as (adapter, vendor):
        outcomes = await adapter.send([TEXT])

    (head, body) = vendor.heard[0]
    assert outcomes == [Accepted(provider_message_id=message_name("wamid.A1"), sender=NUMBER)]
    assert head.startswith(f"POST /v24.0/{NUMBER}/messages HTTP/1.1\r\n")
    assert "Authorization: Bearer EAAJB-token\r\n" in head
    assert "Content-Type: application/json\r\n" in head
    assert msgspec.json.decode(body) == {
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "to": "+93701234567",
        "type": "text",
        "text": {"preview_url": False, "body": "The secret of the tea"},
    }


async def test_a_template_goes_before_the_text() -> None:
    """Its places are filled in their order, each on one line: Meta refuses line breaks in them."""
    async with played(ACCEPTED) as (adapter, vendor):
        bare = VendorTemplate(name="hello", language="fa")
        await adapter.send([replace(TEXT, template=TEMPLATE)])
        await adapter.send([replace(TEXT, template=bare, text=None)])

    first, second = (msgspec.json.decode(body) for _, body in vendor.heard)
    assert first["type"] == "template"
    assert "text" not in first
    assert first["template"] == {
        "name": "order_ready",
        "language": {"code": "en_US"},
        "components": [
            {
                "type": "body",
                "parameters": [
                    {"type": "text", "text": "Laila"},
                    {"type": "text", "text": "two bags of tea"},
                ],
            }
        ],
    }
    assert second["template"] == {"name": "hello", "language": {"code": "fa"}}


async def test_a_code_goes_into_the_body_and_the_button() -> None:
    """As developers.facebook.com shows it for authentication templates: the button of the type OTP is sent as url."""
    code = VendorTemplate(name="otp", language="en_US", otp_button="J$FpnYnP")
    async with played(ACCEPTED) as (adapter, vendor):
        await adapter.send([replace(TEXT, template=code)])

    assert msgspec.json.decode(vendor.heard[0][1])["template"] == {
        "name": "otp",
        "language": {"code": "en_US"},
        "components": [
            {"type": "body", "parameters": [{"type": "text", "text": "J$FpnYnP"}]},
            {
                "type": "button",
                "sub_type": "url",
                "index": "0",
                "parameters": [{"type": "text", "text": "J$FpnYnP"}],
            },
        ],
    }


async def test_header_names_and_buttons_are_filled() -> None:
    """Every component that a reference can name, each with the type of parameter that Meta wants there."""
    whole = VendorTemplate(
        name="order_ready",
        language="en_US",
        header=TemplateHeader(type="document", link="https://shop.example/1.pdf", filename="order 1.pdf"),
        named_parameters={"first_name": "Laila", "order": "two\n bags"},
        buttons=(
            TemplateButton(type="url", index=0, text="orders/1"),
            TemplateButton(type="quick_reply", index=1, text="stop-orders"),
            TemplateButton(type="copy_code", index=3, text="25OFF"),
        ),
    )
    texted = VendorTemplate(
        name="hello", language="fa", header=TemplateHeader(type="text", text="Laila", parameter_name="name")
    )
    async with played(ACCEPTED) as (adapter, vendor):
        await adapter.send([replace(TEXT, template=whole)])
        await adapter.send([replace(TEXT, template=texted)])

    first, second = (msgspec.json.decode(body)["template"]["components"] for _, body in vendor.heard)
    document = {"link": "https://shop.example/1.pdf", "filename": "order 1.pdf"}
    assert first == [
        {"type": "header", "parameters": [{"type": "document", "document": document}]},
        {
            "type": "body",
            "parameters": [
                {"type": "text", "text": "Laila", "parameter_name": "first_name"},
                {"type": "text", "text": "two bags", "parameter_name": "order"},
            ],
        },
        {
            "type": "button",
            "sub_type": "url",
            "index": "0",
            "parameters": [{"type": "text", "text": "orders/1"}],
        },
        {
            "type": "button",
            "sub_type": "quick_reply",
            "index": "1",
            "parameters": [{"type": "payload", "payload": "stop-orders"}],
        },
        {
            "type": "button",
            "sub_type": "copy_code",
            "index": "3",
            "parameters": [{"type": "coupon_code", "coupon_code": "25OFF"}],
        },
    ]
    assert second == [
        {"type": "header", "parameters": [{"type": "text", "text": "Laila", "parameter_name": "name"}]}
    ]


@pytest.mark.parametrize(
    ("template", "named"),
    [
        (replace(TEMPLATE, parameters=("Laila", " \n")), "template.parameters[1] is empty"),
        (
            replace(TEMPLATE, parameters=(), named_parameters={"name": ""}),
            "template.named_parameters.name is empty",
        ),
        (
            VendorTemplate(name="otp", language="en", otp_button="1" * 16),
            "template.otp_button is longer than the 15",
        ),
        (VendorTemplate(name="otp", language="en", otp_button=""), "template.otp_button is empty"),
        (
            replace(TEMPLATE, buttons=(TemplateButton(type="url", index=0, text="\t"),)),
            "template.buttons[0].text is empty",
        ),
        (
            replace(TEMPLATE, buttons=(TemplateButton(type="copy_code", index=0, text="a-b"),)),
            "template.buttons[0].text must be letters and digits",
        ),
        (
            replace(TEMPLATE, header=TemplateHeader(type="image", link="http://pictures.example/1.png")),
            "template.header.link must begin with https://",
        ),
    ],
)
async def test_what_meta_would_refuse_is_refused_by_its_field(template: VendorTemplate, named: str) -> None:
    """Before the call, and without the value."""
    async with played(ACCEPTED) as (adapter, vendor):
        (outcome,) = await adapter.send([replace(TEXT, template=template)])

    assert isinstance(outcome, Refused)
    assert outcome.code == "bad_message"
    assert outcome.reason.startswith(named)
    assert vendor.heard == []


async def test_what_cant_be_said_is_refused_without_asking() -> None:
    """No number, no words."""
    async with played(ACCEPTED) as (adapter, vendor):
        outcomes = await adapter.send([replace(TEXT, to="laila@example.test"), replace(TEXT, text=None)])

    assert [(type(o), getattr(o, "code", "")) for o in outcomes] == [(Refused, "bad_message")] * 2
    assert vendor.heard == []


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        ("400 Bad Request", 131026, Refused),
        ("400 Bad Request", 131051, Refused),
        ("400 Bad Request", 131056, TryLater),
        ("400 Bad Request", 80007, TryLater),
        ("400 Bad Request", 100, Refused),
        # Meta answers 400 to a token that is no good; nothing is wrong with the message.
        ("400 Bad Request", 190, TryLater),
        ("403 Forbidden", 200, TryLater),
        ("403 Forbidden", 368, TryLater),
        ("403 Forbidden", 131031, TryLater),
        ("402 Payment Required", 131042, TryLater),
        ("404 Not Found", 132001, Refused),
        ("500 Internal Server Error", 131000, TryLater),
        # Not on any list: the status decides.
        ("400 Bad Request", 999999, Refused),
        ("503 Service Unavailable", 999999, TryLater),
        ("502 Bad Gateway", 999999, Unlearned),
    ],
)
async def test_meta_is_understood_by_its_code(status: str, code: int, kind: type[Outcome]) -> None:
    outcome = await sent(status, {"code": code, "message": f"(#{code}) something", "type": "OAuthException"})

    assert type(outcome) is kind
    assert getattr(outcome, "code", str(code)) == str(code)


async def test_outside_the_window_it_says_that_a_template_is_needed() -> None:
    """In words that somebody can act upon."""
    outcome = await sent("400 Bad Request", {"code": 131047, "message": "(#131047) Re-engagement message"})

    assert isinstance(outcome, Refused)
    assert outcome.code == "131047"
    assert "24 hours" in outcome.reason
    assert "templates that Meta has approved" in outcome.reason


async def test_whose_no_it_is() -> None:
    """The person's, where Meta says so; and their number stays out of the words."""
    said = {"code": 131050, "message": "x", "error_data": {"details": "+93 70 123 4567 has opted out"}}
    by_them = await sent("400 Bad Request", said)
    by_meta = await sent("400 Bad Request", {"code": 132000, "message": "x"})

    assert isinstance(by_them, Refused)
    assert isinstance(by_meta, Refused)
    assert (by_them.status, by_meta.status) == ("rejected_by_recipient", None)
    assert "123" not in by_them.reason


async def test_a_number_that_is_not_there_is_the_accounts_trouble() -> None:
    """Meta calls it an invalid parameter, and means the address of the request."""
    gone = await sent("400 Bad Request", {"code": 100, "error_subcode": 33, "message": "does not exist"})
    passing = await sent("400 Bad Request", {"code": 999999, "is_transient": True, "message": "busy"})

    assert type(gone) is TryLater
    assert type(passing) is TryLater


@pytest.mark.parametrize(
    "body", [b"<html>log in</html>", b'{"messages":[]}', b'{"messages":[{"id":"w"}],"error":{"code":"odd"}}']
)
async def test_a_success_that_is_none_is_unlearned(body: bytes) -> None:
    async with played(http.answer("200 OK", body)) as (adapter, _):
        (outcome,) = await adapter.send([TEXT])

    assert type(outcome) is Unlearned


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (http.answer("200 OK", b'{"id":"106540352242922"}'), Accepted),
        (http.answer("400 Bad Request", b'{"error":{"code":190}}'), Refused),
        (http.answer("400 Bad Request", b'{"error":{"code":100,"error_subcode":33}}'), Refused),
        (http.answer("500 Internal Server Error", b'{"error":{"code":2}}'), TryLater),
        (http.answer("503 Service Unavailable"), TryLater),
    ],
)
async def test_a_check_asks_for_the_number(answer: bytes, kind: type[Outcome]) -> None:
    async with played(answer) as (adapter, vendor):
        found = await adapter.check()

    assert type(found) is kind
    assert vendor.heard[0][0].startswith(f"GET /v24.0/{NUMBER}?fields=id HTTP/1.1\r\n")


async def test_only_an_account_with_the_apps_secret_hears_anything() -> None:
    async with played(ACCEPTED) as (deaf, _), played(ACCEPTED, app_secret="app-secret") as (hears, _):
        assert deaf.capabilities == Capabilities()
        assert hears.capabilities == Capabilities(receipts=True, inbound=True)
    settings = WhatsAppSettings(phone_number_id=NUMBER, access_token="EAAJB-token", verify_token="a-word")
    assert FORM.keys(settings) is None
    assert repr(settings) == f"WhatsAppSettings(phone_number_id='{NUMBER}')"


def test_the_seeds_that_have_consequences() -> None:
    """The documented meanings; none of them suppresses an address, because Meta never says that a number is wrong."""
    seeds = {seed.code: (seed.canonical, seed.reason) for seed in KIND.statuses}

    assert seeds["131026"] == ("rejected_by_recipient", "recipient_unsupported")
    assert seeds["131051"] == ("rejected_by_recipient", "unsupported_message_type")
    assert seeds["131050"] == ("rejected_by_recipient", "opted_out")
    assert seeds["131047"] == ("rejected_by_provider", "template_needed")
    assert seeds["130429"] == ("failed_temp", "throttled")
    assert not {reason for _, reason in seeds.values()} & {"invalid_address", "hard_bounce", "complaint"}


# --- callbacks


def told(body: bytes, *, secret: str = "the-new-secret-02", **headers: str) -> RawCallback:
    """A request that this secret signed."""
    signature = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    given = {"content-type": "application/json", "x-hub-signature-256": signature, **headers}
    return RawCallback(headers={name: [value] for name, value in given.items()}, body=body, received_at=NOW)


def read(*values: dict[str, Any], field: str = "messages") -> ParsedCallback:
    """What one request says that holds all of these."""
    usual = {"messaging_product": "whatsapp", "metadata": {"phone_number_id": NUMBER}}
    changes = [{"field": field, "value": {**usual, **value}} for value in values]
    body = msgspec.json.encode({"object": "whatsapp_business_account", "entry": [{"changes": changes}]})
    return FORM.read(told(body), KEYS)


async def test_either_secret_signs_while_one_takes_the_place_of_the_other() -> None:
    assert await FORM.verify(told(b"{}"), KEYS) == VerifiedCallback()
    assert await FORM.verify(told(b"{}", secret="the-old-secret-01"), KEYS) == VerifiedCallback()
    found = await FORM.verify(told(b"{}", secret="the-old-secret-01 the-new-secret-02"), KEYS)
    assert isinstance(found, UnverifiedCallback)
    assert found.code == "mismatch"


@pytest.mark.parametrize(
    ("signature", "code"),
    [
        ("", "malformed"),
        ("0" * 64, "malformed"),
        ("sha1=" + "0" * 64, "malformed"),
        ("sha256=" + "0" * 63, "malformed"),
        ("sha256=" + "ä" * 64, "malformed"),
        ("sha256=" + "0" * 64, "mismatch"),
    ],
)
async def test_another_proof_is_refused_in_words(signature: str, code: str) -> None:
    found = await FORM.verify(told(b"{}", **{"x-hub-signature-256": signature}), KEYS)

    assert isinstance(found, UnverifiedCallback)
    assert found.code == code
    bare = RawCallback(headers={"content-type": ["application/json"]}, body=b"{}", received_at=NOW)
    unsigned = await FORM.verify(bare, KEYS)
    assert isinstance(unsigned, UnverifiedCallback)
    assert unsigned.code == "unsigned"


async def test_only_json_is_read() -> None:
    with pytest.raises(WrongContentTypeError):
        await FORM.verify(told(b"{}", **{"content-type": "text/plain"}), KEYS)
    with pytest.raises(MalformedBodyError):
        FORM.read(told(b"{"), KEYS)
    with pytest.raises(InvalidError):
        FORM.read(told(b'{"entry": 1}'), KEYS)


def asks(query: str, method: str = "GET") -> RawCallback:
    """Meta's question."""
    return RawCallback(
        method=method, url=f"https://here.example/hooks/x/y?{query}", headers={}, received_at=NOW
    )


async def test_metas_question_is_answered() -> None:
    """With what it asks with, where it knows the word."""
    query = "hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=a-word"

    assert isinstance(FORM, Challenges)
    assert await FORM.challenge(asks(query), KEYS) == HookReply(media_type="text/plain", body=b"1158201444")
    assert await FORM.challenge(asks(query, method="POST"), KEYS) is None


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("hub.mode=subscribe&hub.challenge=1&hub.verify_token=another", "mismatch"),
        ("hub.mode=subscribe&hub.challenge=1&hub.verify_token=", "malformed"),
        ("hub.mode=subscribe&hub.verify_token=a-word", "malformed"),
        ("hub.mode=subscribe&hub.challenge=1&hub.challenge=2&hub.verify_token=a-word", "malformed"),
        ("hub.mode=unsubscribe&hub.challenge=1&hub.verify_token=a-word", "unsigned"),
        ("", "unsigned"),
    ],
)
async def test_a_stranger_who_asks_gets_no_answer(query: str, code: str) -> None:
    found = await FORM.challenge(asks(query), KEYS)

    assert isinstance(found, UnverifiedCallback)
    assert found.code == code
    no_word = await FORM.challenge(
        asks("hub.mode=subscribe&hub.challenge=1&hub.verify_token=x"), {"secret": "s", "verify_token": ""}
    )
    assert isinstance(no_word, UnverifiedCallback)


def test_one_request_may_speak_of_several() -> None:
    """Statuses of two messages, one of which failed, and a text."""
    found = read(
        {
            "statuses": [
                {"id": "wamid.1", "status": "sent", "timestamp": "1763208000"},
                {"id": "wamid.1", "status": "read", "timestamp": "1763208001"},
                {
                    "id": "wamid.2",
                    "status": "failed",
                    "timestamp": "1763208002",
                    "errors": [{"code": 131026, "title": "Message undeliverable to +93701234567"}],
                },
                {
                    "id": "wamid.3",
                    "status": "failed",
                    "timestamp": "1763208002",
                    "errors": [{"code": 424242, "title": "new"}],
                },
                {"id": "wamid.4", "status": "Warning", "timestamp": "99999999999999999999"},
            ]
        },
        {"messages": [{"from": "93701234567", "id": "wamid.9", "type": "text", "text": {"body": "hi"}}]},
    )

    assert [(e.vendor_message_id, e.word, e.status, e.discriminator) for e in found.events] == [
        (message_name("wamid.1"), "sent", "sent", "1763208000"),
        (message_name("wamid.1"), "read", "delivered_read", "1763208001"),
        (message_name("wamid.2"), "failed", "rejected_by_recipient", "1763208002"),
        (message_name("wamid.3"), "failed", "failed_perm", "1763208002"),
        (message_name("wamid.4"), "warning", "unknown", "99999999999999999999"),
    ]
    assert found.events[0].occurred_at == datetime(2025, 11, 15, 12, tzinfo=UTC)
    assert found.events[4].occurred_at is None
    assert found.events[2].details == Details(code="131026", reason="Message undeliverable to ***")
    assert [(one.sender, one.to, one.text) for one in found.inbound] == [("+93701234567", NUMBER, "hi")]


@pytest.mark.parametrize(
    ("message", "kind", "text"),
    [
        ({"type": "button", "button": {"payload": "p", "text": "No"}}, "button", "No"),
        (
            {
                "type": "interactive",
                "interactive": {"type": "button_reply", "button_reply": {"id": "a", "title": "Yes"}},
            },
            "button_reply",
            "Yes",
        ),
        (
            {
                "type": "interactive",
                "interactive": {"type": "list_reply", "list_reply": {"id": "a", "title": "Tea"}},
            },
            "list_reply",
            "Tea",
        ),
        ({"type": "image", "image": {"id": "1", "caption": "look"}}, "image", "look"),
        ({"type": "location", "location": {"latitude": 34.5, "longitude": 69.1}}, "location", ""),
        ({"type": "unsupported", "errors": [{"code": 131051}]}, "unsupported", ""),
    ],
)
def test_whatever_somebody_sends_has_its_kind(message: dict[str, Any], kind: str, text: str) -> None:
    """And says what it answers, where Meta does."""
    common = {"from": "16505551234", "id": "wamid.9", "timestamp": "1763208000", "context": {"id": "wamid.1"}}
    contacts = [{"wa_id": "16505551234", "profile": {"name": "Sheena"}}]

    (one,) = read({"contacts": contacts, "messages": [{**common, **message}]}).inbound

    assert (one.kind, one.text, one.answers, one.sender_name) == (
        kind,
        text,
        message_name("wamid.1"),
        "Sheena",
    )


def test_a_reaction_answers_what_it_reacts_to() -> None:
    reaction = {"message_id": "wamid.1", "emoji": "👍"}
    (one,) = read(
        {"messages": [{"from": "1650", "id": "wamid.9", "type": "reaction", "reaction": reaction}]}
    ).inbound

    assert (one.kind, one.text, one.answers) == ("reaction", "👍", message_name("wamid.1"))


def test_somebody_without_a_number_is_called_by_metas_id() -> None:
    """Since usernames there are people whose number a business never learns."""
    message = {
        "from_user_id": "US.13491208655302741918",
        "id": "wamid.9",
        "type": "text",
        "text": {"body": "x"},
    }
    contacts = [{"user_id": "US.13491208655302741918", "profile": {"name": "Sheena", "username": "s"}}]

    (one,) = read({"contacts": contacts, "messages": [message]}).inbound

    assert (one.sender, one.sender_name) == ("US.13491208655302741918", "Sheena")


def test_what_nobody_wrote_is_left_aside() -> None:
    """A new number, other fields, trouble of the account."""
    system = {"from": "1650", "id": "wamid.9", "type": "system", "system": {"body": "changed", "type": "x"}}

    assert read({"messages": [system]}) == ParsedCallback(events=[], inbound=[])
    assert read({"errors": [{"code": 130429, "title": "Rate limit hit"}]}) == ParsedCallback(
        events=[], inbound=[]
    )
    assert read(
        {"user_preferences": [{"wa_id": "1650", "value": "stop"}]}, field="user_preferences"
    ) == ParsedCallback(events=[], inbound=[])
    assert read(
        {"event": "APPROVED", "messages": 3}, field="message_template_status_update"
    ) == ParsedCallback(events=[], inbound=[])


def test_a_zero_character_keeps_nothing_from_being_taken() -> None:
    """Postgres could not hold it, and the others of the request are not to blame."""
    body = (
        rb'{"entry":[{"changes":[{"field":"messages","value":{"messages":[{"from":"1650","id":"w","type":"text",'
        rb'"text":{"body":"a\u0000b \\u0000 \\\u0000c"}}]}}]}]}'
    )

    assert [one.text for one in FORM.read(told(body), KEYS).inbound] == ["ab \\u0000 \\c"]


def test_the_name_of_a_message_tells_nobodys_number() -> None:
    """Meta's id does: it is base64."""
    wamid = "HBgLMTY0NjcwNDM1OTUVAgARGBI1RjQyNUE3NEYxMzAzMzQ5MkEA"
    name = message_name(f"wamid.{wamid}")

    assert b"16467043595" in base64.b64decode(wamid)
    assert name == message_name(f"wamid.{wamid}") == "wa-" + name[3:]
    assert len(bytes.fromhex(name[3:])) == 20
