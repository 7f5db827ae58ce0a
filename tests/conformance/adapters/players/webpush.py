"""Push services of browsers: replies as RFC 8030 and Mozilla's autopush document them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from tests.conformance.adapters.player import HttpPlayer
from tests.support import played_http as http
from tests.support.push import subscription, vapid_key
from tests.support.vendors import MESSAGE


def _settings(port: int) -> dict[str, Any]:
    return {
        "api_url": f"http://127.0.0.1:{port}",
        "vapid_private_key": vapid_key()[0],
        "subject": "mailto:push@shop.example",
    }


PLAYER = HttpPlayer(
    name="webpush",
    settings=_settings,
    replies={
        # RFC 8030, 5.
        "accepted": http.answer(
            "201 Created", headers="Location: https://push.example.net/message/qDIYHNcfAIPP_5ITvURr-d6BGt\r\n"
        ),
        # autopush.readthedocs.io, "Error Codes".
        "refused": http.answer(
            "410 Gone",
            b'{"code":410,"errno":106,"error":"Gone","message":"The User Agent of laila has unsubscribed"}',
        ),
        "throttled": http.answer("429 Too Many Requests", headers="Retry-After: 9\r\n"),
        "unavailable": http.answer(
            "503 Service Unavailable", b'{"code":503,"errno":201,"error":"Service Unavailable"}'
        ),
    },
    message=replace(MESSAGE, channel="push", to=subscription(), html=None),
    bad=replace(MESSAGE, channel="push", to=subscription("http://push.example/in-the-clear"), html=None),
    accepted_id="qDIYHNcfAIPP_5ITvURr-d6BGt",
    refused_code="410",
    has_words=False,
    retry_after=timedelta(seconds=9),
)
