"""What Twilio is asked, letter by letter, and what is made of its answers and its callbacks."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode

import msgspec
import pytest

from tests.support.played_http import PlayedHttp, answer, played_http
from tests.support.vendors import MESSAGE
from tidings.contracts.callback_forms import ParsedCallback, RawCallback, UnverifiedCallback, VerifiedCallback
from tidings.contracts.messages import (
    Accepted,
    Address,
    OutboundMessage,
    Outcome,
    Refused,
    TryLater,
    Unlearned,
)
from tidings.contracts.vendor_templates import TemplateButton, TemplateHeader, VendorTemplate
from tidings.kernel.clock import SystemClock
from tidings.kernel.errors import BadValueError
from tidings.router.adapters.kind import AdapterContext
from tidings.router.adapters.twilio.adapter import KIND, TwilioSettings
from tidings.router.adapters.twilio.callbacks import TwilioForm, signature

ACCOUNT = "AC" + "1" * 32
SERVICE = "MG" + "2" * 32
CONTENT = "HX" + "3" * 32
SMS = replace(
    MESSAGE, channel="sms", to="+93700123456", sender=Address(value="+15017122661"), html=None, subject=None
)
TAKEN = answer("201 CREATED", b'{"sid": "SM77", "status": "queued", "error_code": null}')
FORM = {"content-type": ["application/x-www-form-urlencoded; charset=UTF-8"]}
URL = "https://hooks.example.test/hooks/twilio/adcfg_1"
NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def settings(**more: Any) -> dict[str, Any]:
    return {"account_sid": ACCOUNT, "auth_token": "t0ken", **more}


@asynccontextmanager
async def asked(*parts: bytes, **more: Any) -> AsyncIterator[tuple[Any, PlayedHttp]]:
    async with played_http(*parts) as played:
        given = settings(api_url=f"http://127.0.0.1:{played.port}", **more)
        adapter = KIND.adapter(msgspec.convert(given, TwilioSettings), AdapterContext(clock=SystemClock()))
        try:
            yield adapter, played
        finally:
            await adapter.close()


async def sent(
    message: OutboundMessage, *parts: bytes, **more: Any
) -> tuple[Outcome, list[tuple[str, bytes]]]:
    async with asked(*(parts or (TAKEN,)), **more) as (adapter, played):
        (outcome,) = await adapter.send([message])
        return outcome, played.heard


async def test_a_text_as_twilio_wants_it() -> None:
    """A form to the account's messages, signed in with its token."""
    outcome, [(head, body)] = await sent(
        replace(SMS, text="سلام & Co=1"), status_callback="https://h.example/x"
    )

    assert head.startswith(f"POST /2010-04-01/Accounts/{ACCOUNT}/Messages.json HTTP/1.1\r\n")
    # AC111…:t0ken
    assert "Authorization: Basic QUMxMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTp0MGtlbg==" in head
    assert "Content-Type: application/x-www-form-urlencoded" in head
    assert parse_qsl(body.decode(), strict_parsing=True) == [
        ("To", "+93700123456"),
        ("From", "+15017122661"),
        ("Body", "سلام & Co=1"),
        ("StatusCallback", "https://h.example/x"),
    ]
    assert outcome == Accepted(provider_message_id="SM77", sender="+15017122661")


@pytest.mark.parametrize(
    ("sender", "more", "fields", "answerable"),
    [
        ("Green Shop", {}, {"From": ["Green Shop"]}, None),
        ("8080", {}, {"From": ["8080"]}, "8080"),
        ("Green Shop", {"sms_from": "+12025550100"}, {"From": ["+12025550100"]}, "+12025550100"),
        ("Green Shop", {"messaging_service_sid": SERVICE}, {"MessagingServiceSid": [SERVICE]}, SERVICE),
        (
            "",
            {"messaging_service_sid": SERVICE, "sms_from": "8080"},
            {"MessagingServiceSid": [SERVICE], "From": ["8080"]},
            "8080",
        ),
    ],
)
async def test_who_it_is_from(
    sender: str, more: dict[str, Any], fields: dict[str, list[str]], answerable: str | None
) -> None:
    """The account's sender goes before the tenant's; names can't be answered."""
    outcome, [(_, body)] = await sent(replace(SMS, sender=Address(value=sender)), **more)

    told = parse_qs(body.decode())
    assert {name: told.get(name) for name in ("From", "MessagingServiceSid") if name in told} == fields
    assert outcome == Accepted(provider_message_id="SM77", sender=answerable)


async def test_whatsapp_with_a_template_and_without() -> None:
    """Content templates by their id, or by a name that the account knows; otherwise the text."""
    message = replace(SMS, channel="whatsapp", text="Your code is 1")
    named = replace(message, template=VendorTemplate(name="otp", language="fa", parameters=('a"b', "ب")))
    by_sid = replace(message, template=VendorTemplate(name=CONTENT, language="en"))
    async with asked(TAKEN, content_sids={"otp/fa": CONTENT}) as (adapter, played):
        outcomes = await adapter.send(
            [message, named, by_sid, replace(named, template=VendorTemplate(name="x", language="en"))]
        )
    bodies = sorted((dict(parse_qsl(body.decode())) for _, body in played.heard), key=repr)

    base = {"To": "whatsapp:+93700123456", "From": "whatsapp:+15017122661"}
    assert bodies == sorted(
        [
            {**base, "Body": "Your code is 1"},
            {**base, "ContentSid": CONTENT, "ContentVariables": '{"1":"a\\"b","2":"ب"}'},
            {**base, "ContentSid": CONTENT},
            {**base, "Body": "Your code is 1"},
        ],
        key=repr,
    )
    assert {outcome.sender for outcome in outcomes} == {"+15017122661"}


@pytest.mark.parametrize(
    ("language", "account", "said"),
    [
        (None, {}, 'language="en-US"'),
        ("fr", {}, 'language="fr-FR"'),
        ("fr-CA", {}, 'language="fr-CA"'),
        ("de-CH", {}, 'language="de-DE"'),
        ("zh-Hant-TW", {}, 'language="cmn-TW"'),
        ("zh", {}, 'language="cmn-CN"'),
        # What is written in Hong Kong and Macao is read out in Cantonese, as Twilio's own zh-HK is.
        ("zh-HK", {}, 'language="yue-HK"'),
        ("zh-Hant-MO", {"voice_language": "cmn-CN"}, 'language="yue-HK"'),
        ("am", {}, 'language="am-ET"'),
        ("en-CA", {"voice_language": "fr-CA"}, 'language="en-CA"'),
        ("ar", {"voice": "Polly.Joanna"}, 'language="ar-XA"'),
        # The account's own language has its voice, also where Twilio's list has another region, or none.
        ("en-GB", {"voice": "Polly.Joanna"}, 'language="en-US" voice="Polly.Joanna"'),
        ("fa-AF", {"voice_language": "fa-IR"}, 'language="fa-IR"'),
    ],
)
async def test_a_call_speaks_the_language_of_its_text(
    language: str | None, account: dict[str, Any], said: str
) -> None:
    message = replace(SMS, channel="voice", language=language)
    outcome, [(_, body)] = await sent(message, **account)

    assert isinstance(outcome, Accepted)
    assert parse_qs(body.decode())["Twiml"][0].startswith(f'<Response><Say {said} loop="2">')


@pytest.mark.parametrize("language", ["fa-AF", "ps-AF", "ur", "lt", "eu-ES"])
async def test_a_language_that_twilio_does_not_speak_is_refused(language: str) -> None:
    """Read out by an English voice it would be a call that nobody understands."""
    outcome, heard = await sent(replace(SMS, channel="voice", language=language))

    assert isinstance(outcome, Refused)
    assert outcome.reason.startswith(f"language {language[:2]} is not spoken by Twilio")
    assert heard == []


@pytest.mark.parametrize(
    ("template", "variables"),
    [
        (VendorTemplate(name=CONTENT, language="en", otp_button="123456"), '{"1":"123456"}'),
        (
            VendorTemplate(name=CONTENT, language="en", parameters=("123456", "a\nb\tc      d")),
            '{"1":"123456","2":"a b c d"}',
        ),
        (VendorTemplate(name=CONTENT, language="en", named_parameters={"name": "Laila"}), '{"name":"Laila"}'),
        (
            VendorTemplate(
                name=CONTENT,
                language="en",
                header=TemplateHeader(type="text", text="Order 1"),
                parameters=("Laila",),
                buttons=(TemplateButton(type="url", index=0, text="orders/1"),),
            ),
            '{"1":"Order 1","2":"Laila","3":"orders/1"}',
        ),
    ],
)
async def test_content_variables_are_numbered_and_folded(template: VendorTemplate, variables: str) -> None:
    """Through header, body and buttons; without what Twilio refuses with 21656."""
    outcome, [(_, body)] = await sent(replace(SMS, channel="whatsapp", template=template))

    assert isinstance(outcome, Accepted)
    assert parse_qs(body.decode())["ContentVariables"] == [variables]


async def test_an_empty_content_variable_is_refused_by_name() -> None:
    empty = VendorTemplate(name=CONTENT, language="en", parameters=("123456", ""))
    outcome, heard = await sent(replace(SMS, channel="whatsapp", template=empty))

    assert isinstance(outcome, Refused)
    assert outcome.reason.startswith("template.parameters[1] is empty")
    assert heard == []


def test_twilios_words_on_content_variables_are_known() -> None:
    known = {seed.code: (seed.canonical, seed.reason) for seed in KIND.statuses}

    assert known["21656"] == known["92007"] == ("rejected_by_provider", "template_mismatch")


async def test_a_call_is_read_out() -> None:
    """Escaped: a text can't become TwiML."""
    message = replace(SMS, channel="voice", text='1 < 2 & "</Say><Dial>+1900</Dial>"\x00')
    outcome, [(head, body)] = await sent(
        message, voice_language="fa-IR", voice_repeat=3, status_callback="https://h.example/x"
    )

    assert head.startswith(f"POST /2010-04-01/Accounts/{ACCOUNT}/Calls.json ")
    assert parse_qsl(body.decode()) == [
        ("To", "+93700123456"),
        ("From", "+15017122661"),
        (
            "Twiml",
            '<Response><Say language="fa-IR" loop="3">1 &lt; 2 &amp; "&lt;/Say&gt;&lt;Dial&gt;+1900&lt;/Dial&gt;" '
            "</Say></Response>",
        ),
        ("StatusCallback", "https://h.example/x"),
        ("StatusCallbackEvent", "answered"),
        ("StatusCallbackEvent", "completed"),
    ]
    assert outcome == Accepted(provider_message_id="SM77", sender=None)


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (replace(SMS, to="0700123456"), "to"),
        (replace(SMS, text=""), "text"),
        (replace(SMS, sender=Address(value="")), "from"),
        (replace(SMS, channel="voice", sender=Address(value="Green Shop")), "from"),
        (replace(SMS, channel="voice", text="a" * 4000), "text"),
    ],
)
async def test_what_cant_be_said_is_not_asked(message: OutboundMessage, field: str) -> None:
    """It names the field."""
    outcome, heard = await sent(message)

    assert isinstance(outcome, Refused)
    assert outcome.code == "bad_message"
    assert outcome.reason.startswith(field)
    assert heard == []


@pytest.mark.parametrize(
    ("status", "body", "kind", "code"),
    [
        ("400 Bad Request", b'{"code": 21614, "message": "not a mobile number"}', Refused, "21614"),
        ("400 Bad Request", b'{"code": 21611, "message": "queue"}', TryLater, "21611"),
        ("401 Unauthorized", b'{"code": 20003, "message": "Authenticate"}', TryLater, "20003"),
        ("403 Forbidden", b'{"code": 20005, "message": "Account not active"}', TryLater, "20005"),
        ("404 Not Found", b'{"code": 20404}', TryLater, "20404"),
        ("429 Too Many Requests", b"", TryLater, "429"),
        ("500 Internal Server Error", b'{"code": 20500}', Unlearned, None),
        ("503 Service Unavailable", b"", TryLater, "503"),
        ("201 Created", b'{"status": "queued"}', Unlearned, None),
        ("201 Created", b'{"sid": "SM1", "status": "failed", "error_code": 30006}', Refused, "30006"),
    ],
)
async def test_what_the_answers_mean(status: str, body: bytes, kind: type[Outcome], code: str | None) -> None:
    """Trouble of the account is no trouble of the message."""
    outcome, _ = await sent(SMS, answer(status, body))

    assert isinstance(outcome, kind)
    assert getattr(outcome, "code", None) == code


async def test_a_person_who_wrote_stop_has_refused() -> None:
    """That no is theirs."""
    outcome, _ = await sent(SMS, answer("400 Bad Request", b'{"code": 21610, "message": "unsubscribed"}'))

    assert isinstance(outcome, Refused)
    assert (outcome.code, outcome.status) == ("21610", "rejected_by_recipient")


async def test_an_api_key_signs_in_and_is_checked() -> None:
    """It may not see the account itself."""
    key = "SK" + "4" * 32
    async with asked(answer("200 OK", b"{}"), api_key_sid=key, api_key_secret="s3cret") as (adapter, played):
        assert await adapter.check() == Accepted()
    async with asked(answer("401 No", b"{}")) as (adapter, other):
        assert isinstance(await adapter.check(), Refused)

    [(head, _)] = played.heard
    assert head.startswith(f"GET /2010-04-01/Accounts/{ACCOUNT}/Messages.json?PageSize=1 ")
    # SK444…:s3cret
    assert "Basic U0s0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDpzM2NyZXQ=" in head
    assert other.heard[0][0].startswith(f"GET /2010-04-01/Accounts/{ACCOUNT}.json ")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"account_sid": ACCOUNT}, "auth_token"),
        (settings(api_key_sid="SK" + "4" * 32), "api_key_secret"),
    ],
)
def test_half_of_the_credentials_is_none(given: dict[str, Any], field: str) -> None:
    """The account says what is missing."""
    with pytest.raises(BadValueError) as refused:
        KIND.adapter(msgspec.convert(given, TwilioSettings), AdapterContext(clock=SystemClock()))

    assert refused.value.field == field


@pytest.mark.parametrize(
    ("more", "receipts"),
    [
        ({}, False),
        ({"status_callback": URL}, True),
        ({"messaging_service_sid": SERVICE}, True),
    ],
)
async def test_receipts_come_where_twilio_was_told_to(more: dict[str, Any], receipts: bool) -> None:
    """Nobody waits for what nobody asked for."""
    async with asked(TAKEN, **more) as (adapter, _):
        assert adapter.capabilities.receipts is receipts
        assert adapter.capabilities.inbound


# --- callbacks


def called(body: bytes, proof: str, url: str = URL) -> RawCallback:
    return RawCallback(url=url, headers={**FORM, "x-twilio-signature": [proof]}, body=body, received_at=NOW)


def read(body: bytes, **keys: str) -> ParsedCallback:
    return TwilioForm().read(called(body, ""), {"secret": "12345", **keys})


#: Of the tests of twilio-python: the same request with the ports that Twilio puts in or leaves out.
@pytest.mark.parametrize(
    ("url", "proof"),
    [
        ("https://mycompany.com/myapp.php?foo=1&bar=2", "RSOYDt4T1cUTdK1PDd93/VVr8B8="),
        ("https://mycompany.com:1234/myapp.php?foo=1&bar=2", "RSOYDt4T1cUTdK1PDd93/VVr8B8="),
        ("https://mycompany.com/myapp.php?foo=1&bar=2", "kvajT1Ptam85bY51eRf/AJRuM3w="),
        ("http://mycompany.com/myapp.php?foo=1&bar=2", "0ZXoZLH/DfblKGATFgpif+LLRf4="),
        ("http://mycompany.com:1234/myapp.php?foo=1&bar=2", "Zmvh+3yNM1Phv2jhDCwEM3q5ebU="),
    ],
)
async def test_twilios_own_signatures_fit(url: str, proof: str) -> None:
    """With the auth token 12345, also while another takes its place."""
    body = (
        b"Digits=1234&To=%2B18005551212&From=%2B14158675309&Caller=%2B14158675309&CallSid=CA1234567890ABCDE"
    )
    request = called(body, proof, url)

    assert isinstance(await TwilioForm().verify(request, {"secret": "12345"}), VerifiedCallback)
    assert isinstance(await TwilioForm().verify(request, {"secret": "new\n12345"}), VerifiedCallback)
    refused = await TwilioForm().verify(request, {"secret": "new"})
    assert isinstance(refused, UnverifiedCallback)
    assert refused.code == "mismatch"


def test_a_field_that_comes_twice_counts_once() -> None:
    """Of the tests of twilio-python."""
    fields = {"Sid": ["CA123"], "SidAccount": ["AC123"], "Digits": ["5678", "1234", "1234"]}

    found = signature("12345", "https://mycompany.com/myapp.php?foo=1&bar=2", fields)

    assert found == "IK+Dwps556ElfBT0I3Rgjkr1wJU="


@pytest.mark.parametrize(
    ("word", "status"),
    [
        (b"queued", "accepted"),
        (b"sent", "sent"),
        (b"Delivered", "delivered"),
        (b"read", "delivered_read"),
        (b"undelivered", "failed_perm"),
        (b"canceled", "cancelled"),
        (b"evaporated", "unknown"),
    ],
)
def test_what_became_of_a_message(word: bytes, status: str) -> None:
    """Twilio's words in ours."""
    (event,) = read(b"MessageSid=SM1&SmsStatus=sent&MessageStatus=" + word).events

    assert (event.vendor_message_id, event.word, event.status) == ("SM1", word.decode().lower(), status)


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("ringing", "sent"),
        ("in-progress", "delivered"),
        ("no-answer", "failed_temp"),
        ("failed", "failed_perm"),
    ],
)
def test_what_became_of_a_call(word: str, status: str) -> None:
    """Who has answered is listening; busy and away are for another time."""
    body = f"CallSid=CA1&CallStatus={word}&Direction=outbound-api&SequenceNumber=2&SipResponseCode=404"
    (event,) = read(body.encode()).events

    assert (event.vendor_message_id, event.status, event.discriminator) == ("CA1", status, "2")
    # A word without a code is looked up in the status map as one.
    codes = {"failed": "sip-404", "no-answer": "no-answer"}
    assert (event.details.code if event.details else None) == codes.get(word)


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        (b"", "text"),
        (b"&NumMedia=1&MediaContentType0=image%2Fjpeg", "image"),
        (b"&Latitude=34.5&Longitude=69.1", "location"),
        (b"&ButtonPayload=yes", "button"),
    ],
)
def test_what_people_write(more: bytes, kind: str) -> None:
    """Whatever it is, it is theirs."""
    body = b"MessageSid=SM9&SmsStatus=received&From=%2B93700123456&To=%2B15017122661&Body=%D8%B3%D9%84%D8%A7%D9%85"
    (inbound,) = read(body + more).inbound

    assert (inbound.channel, inbound.sender, inbound.to) == ("sms", "+93700123456", "+15017122661")
    assert (inbound.text, inbound.kind) == ("سلام", kind)


def test_what_nobody_can_keep_is_left_out() -> None:
    """Zero characters, and names without end."""
    body = b"MessageSid=SM9&From=%2B93700123456&To=8080&Body=a%00b&ProfileName=" + b"x" * 10_000
    (inbound,) = read(body).inbound

    assert inbound.text == "ab"
    assert len(inbound.sender_name or "") == 200


def test_an_answer_to_a_messaging_service_is_its() -> None:
    """As the message that it answers was sent; another service's number is a number."""
    body = f"MessageSid=SM9&From=%2B93700123456&To=8080&Body=x&MessagingServiceSid={SERVICE}".encode()

    assert read(body, service=SERVICE).inbound[0].to == SERVICE
    assert read(body).inbound[0].to == "8080"


@pytest.mark.parametrize(
    ("channel", "more", "to"),
    [
        ("sms", {"sms_from": "8080"}, "8080"),
        ("sms", {}, "8080"),
        ("whatsapp", {"whatsapp_from": "whatsapp:+14155238886"}, "whatsapp:+14155238886"),
    ],
)
async def test_an_answer_finds_what_it_answers(channel: str, more: dict[str, Any], to: str) -> None:
    """Where it will arrive is said as it arrives, also for a sender of the account's own within a service."""
    async with asked(TAKEN, messaging_service_sid=SERVICE, **more) as (adapter, _):
        (outcome,) = await adapter.send([replace(SMS, channel=channel)])
    given = msgspec.convert(settings(messaging_service_sid=SERVICE, **more), TwilioSettings)
    keys = TwilioForm().keys(given) or {}
    prefix = "whatsapp:" if channel == "whatsapp" else ""
    form = {"MessageSid": "SM9", "From": f"{prefix}+93700123456", "To": to, "MessagingServiceSid": SERVICE}
    (inbound,) = TwilioForm().read(called(urlencode(form).encode(), ""), keys).inbound

    assert isinstance(outcome, Accepted)
    assert outcome.sender == inbound.to


@pytest.mark.parametrize(
    "body", [b"", b"CallSid=CA1&CallStatus=ringing&Direction=inbound", b"MessageSid=SM1&SmsStatus=sent"]
)
def test_what_says_nothing_for_us_is_empty(body: bytes) -> None:
    """A call that comes in is answered with no instructions."""
    assert read(body) == ParsedCallback()
    assert TwilioForm.reply is not None
    assert TwilioForm.reply.body == b"<Response/>"


def test_without_a_token_there_is_no_hook() -> None:
    """An API key alone checks nothing."""
    form = TwilioForm()
    bare = msgspec.convert({"account_sid": ACCOUNT}, TwilioSettings)
    both = msgspec.convert(
        settings(callback_auth_token="a\nb", messaging_service_sid=SERVICE), TwilioSettings
    )

    assert form.keys(bare) is None
    assert form.keys(both) == {"secret": "a\nb", "service": SERVICE}
