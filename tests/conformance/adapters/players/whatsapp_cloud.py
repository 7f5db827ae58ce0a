"""Meta's Cloud API: replies and callbacks as developers.facebook.com shows them for the WhatsApp Business Platform."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from tests.conformance.adapters.player import Example, HttpPlayer
from tests.support import played_http as http
from tests.support.vendors import MESSAGE
from tidings.contracts.callback_forms import Details, ParsedCallback, RawCallback, ReadEvent, ReadInbound
from tidings.contracts.vendor_templates import VendorTemplate

_SECRET = "test-app-secret-0123456789abcdef"


def _settings(port: int) -> dict[str, Any]:
    return {
        "api_url": f"http://127.0.0.1:{port}/v24.0",
        "phone_number_id": "106540352242922",
        "access_token": "EAAJB-hunter2-EAAJB",
        "app_secret": "hunter2hunter2",
        "verify_token": "hunter2-verify",
    }


def _signed(body: bytes, digest: str) -> RawCallback:
    return RawCallback(
        headers={"content-type": ["application/json"], "x-hub-signature-256": [f"sha256={digest}"]},
        body=body,
        received_at=datetime(2025, 6, 19, 20, tzinfo=UTC),
    )


def _body(value: bytes, field: bytes = b"messages") -> bytes:
    return (
        b'{"object":"whatsapp_business_account","entry":[{"id":"102290129340398","changes":[{"value":'
        b'{"messaging_product":"whatsapp","metadata":{"display_phone_number":"15550783881",'
        b'"phone_number_id":"106540352242922"},' + value + b'},"field":"' + field + b'"}]}]}'
    )


# After "Status messages webhook reference".
_DELIVERED = _body(
    b'"statuses":[{"id":"wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBJDRkFBNzkyNzVCOUUwNEU2ODYA","status":"delivered",'
    b'"timestamp":"1750263773","recipient_id":"16505551234","pricing":{"billable":true,"pricing_model":"PMP",'
    b'"category":"utility","type":"regular"}}]'
)
# After the same page, with 131050 of "Error codes".
_STOPPED = (
    "Unable to deliver the message. This recipient has chosen to stop receiving marketing messages on WhatsApp from"
    " your business"
)
_FAILED = _body(
    b'"statuses":[{"id":"wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBI3MTE4RkFGQzk0QjdBRUJCNkQA","status":"failed",'
    b'"timestamp":"1750362793","recipient_id":"16505551234","errors":[{"code":131050,"title":"%s","message":"%s",'
    b'"error_data":{"details":"%s"},"href":"/documentation/business-messaging/whatsapp/support/error-codes"}]}]'
    % ((_STOPPED.encode(),) * 3)
)
# After "messages webhook reference".
_TEXT = _body(
    b'"contacts":[{"profile":{"name":"Sheena Nelson"},"wa_id":"16505551234"}],"messages":[{"from":"16505551234",'
    b'"id":"wamid.HBgLMTY1MDM4Nzk0MzkVAgASGBQzQTRBNjU5OUFFRTAzODEwMTQ0RgA=","timestamp":"1749416383","type":"text",'
    b'"text":{"body":"Does it come in another color?"}}]'
)


def _example(body: bytes, digest: str, reading: ParsedCallback) -> Example:
    return Example(
        source="made after Meta's webhook reference, signed with: openssl dgst -sha256 -hmac",
        settings={"phone_number_id": "106540352242922", "access_token": "EAAJB-EAAJB", "app_secret": _SECRET},
        request=_signed(body, digest),
        reading=reading,
        covered=("body", "x-hub-signature-256"),
    )


PLAYER = HttpPlayer(
    name="whatsapp_cloud",
    settings=_settings,
    replies={
        # "Messages API": the answer to a template.
        "accepted": http.answer(
            "200 OK",
            b'{"messaging_product":"whatsapp","contacts":[{"input":"+93701234567","wa_id":"93701234567"}],'
            b'"messages":[{"id":"wamid.HBgLMTY0NjcwNDM1OTUVAgARGBI1RjQyNUE3NEYxMzAzMzQ5MkEA",'
            b'"message_status":"accepted"}]}',
        ),
        "refused": http.answer(
            "400 Bad Request",
            b'{"error":{"message":"(#131026) Message undeliverable","type":"OAuthException","code":131026,'
            b'"error_data":{"messaging_product":"whatsapp","details":"Message to +93701234567 undeliverable."},'
            b'"fbtrace_id":"AvHkqh_CFSPmSsfdELLPTzg"}}',
        ),
        # The example of "Error codes".
        "throttled": http.answer(
            "400 Bad Request",
            b'{"error":{"message":"(#130429) Rate limit hit","type":"OAuthException","code":130429,'
            b'"error_data":{"messaging_product":"whatsapp","details":"Message failed to send because there were too'
            b' many messages sent from this phone number in a short period of time"},'
            b'"fbtrace_id":"Az8or2yhqkZfEZ-_4Qn_Bam"}}',
        ),
        "unavailable": http.answer(
            "500 Internal Server Error",
            b'{"error":{"message":"(#131016) Service unavailable","type":"OAuthException","code":131016}}',
        ),
    },
    message=replace(
        MESSAGE,
        channel="whatsapp",
        to="+93701234567",
        html=None,
        template=VendorTemplate(name="order_ready", language="en_US", parameters=("Laila Unmistakable",)),
    ),
    bad=replace(MESSAGE, channel="whatsapp", to="nobody\r\nX: y"),
    # A mark of Meta's id, which holds the number.
    accepted_id="wa-9076e745c43d4fe7535f54771ca1f7ace358b4ae",
    refused_code="131026",
    examples=[
        _example(
            _DELIVERED,
            "e6d745df409ba85782477f134fb17253073e84d43e6c11cb9d5ced433b7a2818",
            ParsedCallback(
                events=[
                    ReadEvent(
                        vendor_message_id="wa-ecfa21dd8a0295e075bbc4e38e7b43bdda65b885",
                        word="delivered",
                        status="delivered",
                        occurred_at=datetime(2025, 6, 18, 16, 22, 53, tzinfo=UTC),
                        discriminator="1750263773",
                    )
                ]
            ),
        ),
        _example(
            _FAILED,
            "180a0cfeaa558f62e53ef556950111506e6ec181550ae901400328383789613e",
            ParsedCallback(
                events=[
                    ReadEvent(
                        vendor_message_id="wa-273e75e6e3caac8ed9a3fc66baeb3aef0d42d22b",
                        word="failed",
                        status="rejected_by_recipient",
                        occurred_at=datetime(2025, 6, 19, 19, 53, 13, tzinfo=UTC),
                        discriminator="1750362793",
                        details=Details(code="131050", reason=_STOPPED),
                    )
                ]
            ),
        ),
        _example(
            _TEXT,
            "e9887c9cbf019bc0b6b9c71875199729793218fdc66ba0981284be8ef9b3acdd",
            ParsedCallback(
                inbound=[
                    ReadInbound(
                        vendor_message_id="wa-cd3f8a33a571b9a79443e5ecf0305c85bd53bab1",
                        channel="whatsapp",
                        sender="+16505551234",
                        to="106540352242922",
                        text="Does it come in another color?",
                        occurred_at=datetime(2025, 6, 8, 20, 59, 43, tzinfo=UTC),
                        sender_name="Sheena Nelson",
                    )
                ]
            ),
        ),
    ],
)
