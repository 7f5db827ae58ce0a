"""Telegram's Bot API: replies as the server of github.com/tdlib/telegram-bot-api words them, updates of core.telegram.org."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.conformance.adapters.player import Example, HttpPlayer
from tests.support import played_http as http
from tests.support.vendors import MESSAGE
from tidings.contracts.callback_forms import HookReply, ParsedCallback, RawCallback, ReadInbound

# The token that core.telegram.org shows.
_TOKEN = "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11"
_SECRET = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"


def _settings(port: int) -> dict[str, Any]:
    return {
        "api_url": f"http://127.0.0.1:{port}",
        "token": "123456:ABC-hunter2-hunter2-hunter2-hunter2",
        "webhook_secret": "hunter2-hunter2-hunter2",
    }


def _told(body: bytes) -> RawCallback:
    return RawCallback(
        headers={"content-type": ["application/json"], "x-telegram-bot-api-secret-token": [_SECRET]},
        body=body,
        received_at=datetime(2015, 9, 7, 12, tzinfo=UTC),
    )


def _example(body: bytes, *inbound: ReadInbound, reply: HookReply | None = None) -> Example:
    return Example(
        source="made after Telegram's descriptions of Update and setWebhook; the secret itself is sent, nothing is signed",
        settings={"token": _TOKEN, "webhook_secret": _SECRET},
        request=_told(body),
        reading=ParsedCallback(inbound=inbound, reply=reply),
        # Nothing is signed: the secret itself is sent.
        covered=("x-telegram-bot-api-secret-token",),
    )


_TEXT = (
    b'{"update_id":10000,"message":{"date":1441645532,"chat":{"last_name":"Test Lastname","id":1111111,'
    b'"first_name":"Test","username":"Test"},"message_id":1365,"from":{"last_name":"Test Lastname","id":1111111,'
    b'"first_name":"Test","username":"Test"},"text":"/start"}}'
)
_REPLY = (
    b'{"update_id":10000,"message":{"date":1441645532,"chat":{"last_name":"Test Lastname","type":"private",'
    b'"id":1111111,"first_name":"Test Firstname","username":"Testusername"},"message_id":1365,"from":{"last_name":'
    b'"Test Lastname","id":1111111,"first_name":"Test Firstname","username":"Testusername"},"text":"/start",'
    b'"reply_to_message":{"date":1441645000,"chat":{"last_name":"Reply Lastname","type":"private","id":1111112,'
    b'"first_name":"Reply Firstname","username":"Testusername"},"message_id":1334,"text":"Original"}}}'
)
_EDITED = (
    b'{"update_id":10000,"edited_message":{"date":1441645532,"chat":{"last_name":"Test Lastname","type":"private",'
    b'"id":1111111,"first_name":"Test Firstname","username":"Testusername"},"message_id":1365,"from":{"last_name":'
    b'"Test Lastname","id":1111111,"first_name":"Test Firstname","username":"Testusername"},"text":"Edited text",'
    b'"edit_date":1441646600}}'
)
_BUTTON = (
    b'{"update_id":10000,"callback_query":{"id":"4382bfdwdsb323b2d9","from":{"last_name":"Test Lastname",'
    b'"type":"private","id":1111111,"first_name":"Test Firstname","username":"Testusername"},"data":"Data from'
    b' button callback","inline_message_id":"1234csdbsk4839"}}'
)

PLAYER = HttpPlayer(
    name="telegram_bot",
    settings=_settings,
    replies={
        "accepted": http.answer(
            "200 OK",
            b'{"ok":true,"result":{"message_id":1365,"from":{"id":123456,"is_bot":true,"first_name":"Green Shop",'
            b'"username":"green_shop_bot"},"chat":{"id":5123456789,"first_name":"Laila","type":"private"},'
            b'"date":1763208000,"text":"The secret of the tea"}}',
        ),
        "refused": http.answer(
            "403 Forbidden",
            b'{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}',
        ),
        "throttled": http.answer(
            "429 Too Many Requests",
            b'{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 7",'
            b'"parameters":{"retry_after":7}}',
        ),
        "unavailable": http.answer("503 Service Unavailable", b"<html>"),
    },
    message=replace(MESSAGE, channel="telegram", to="5123456789", html=None),
    bad=replace(MESSAGE, channel="telegram", to="nobody\r\nX: y"),
    # A mark of the chat, which nobody can turn back into its number, and the number of the message in it.
    accepted_id="4ca3da6b19b6a90b4c79:1365",
    refused_code="403",
    retry_after=timedelta(seconds=7),
    examples=[
        _example(
            _TEXT,
            ReadInbound(
                vendor_message_id="714265b099a435b4cf2e:1365",
                channel="telegram",
                sender="1111111",
                to="123456",
                text="/start",
                occurred_at=datetime(2015, 9, 7, 17, 5, 32, tzinfo=UTC),
                sender_name="Test Test Lastname",
            ),
        ),
        _example(
            _REPLY,
            ReadInbound(
                vendor_message_id="714265b099a435b4cf2e:1365",
                channel="telegram",
                sender="1111111",
                to="123456",
                text="/start",
                occurred_at=datetime(2015, 9, 7, 17, 5, 32, tzinfo=UTC),
                sender_name="Test Firstname Test Lastname",
                answers="e0226457e0852bdeb02a:1334",
            ),
        ),
        _example(_EDITED),
        _example(
            _BUTTON,
            ReadInbound(
                vendor_message_id="callback:4382bfdwdsb323b2d9",
                channel="telegram",
                sender="1111111",
                to="123456",
                text="Data from button callback",
                kind="button",
                occurred_at=None,
                sender_name="Test Firstname Test Lastname",
            ),
            # As Telegram describes it under "Making requests when getting updates".
            reply=HookReply(
                body=b'{"method":"answerCallbackQuery","callback_query_id":"4382bfdwdsb323b2d9"}'
            ),
        ),
    ],
)
