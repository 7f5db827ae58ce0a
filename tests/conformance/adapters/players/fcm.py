"""FCM over HTTP v1: replies as firebase.google.com/docs/cloud-messaging/error-codes and its reference show them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from tests.conformance.adapters.player import HttpPlayer
from tests.support import played_http as http
from tests.support.push import service_account
from tests.support.vendors import MESSAGE

# developers.google.com/identity/protocols/oauth2/service-account, "Handling the response".
_TOKEN = b'{"access_token":"1/8xbJqaOZXSUZbHLl5EOtu1pxz3fmmetKx9W8CV4t79M","token_type":"Bearer","expires_in":3600}'


def _settings(port: int) -> dict[str, Any]:
    place = f"http://127.0.0.1:{port}"
    return service_account(api_url=place, token_uri=f"{place}/token")


PLAYER = HttpPlayer(
    name="fcm",
    settings=_settings,
    first=[http.answer("200 OK", _TOKEN)],
    replies={
        # firebase.google.com/docs/cloud-messaging/send/v1-api
        "accepted": http.answer(
            "200 OK", b'{"name":"projects/green-shop/messages/0:1500415314455276%31bd1c9631bd1c96"}'
        ),
        "refused": http.answer(
            "404 Not Found",
            b'{"error":{"code":404,"message":"Requested entity was not found.","status":"NOT_FOUND","details":'
            b'[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"}]}}',
        ),
        "throttled": http.answer(
            "429 Too Many Requests",
            b'{"error":{"code":429,"message":"Quota exceeded for quota metric.","status":"RESOURCE_EXHAUSTED","details":'
            b'[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"QUOTA_EXCEEDED"}]}}',
            headers="Retry-After: 60\r\n",
        ),
        "unavailable": http.answer(
            "503 Service Unavailable",
            b'{"error":{"code":503,"message":"The service is currently unavailable.","status":"UNAVAILABLE"}}',
        ),
    },
    message=replace(MESSAGE, channel="push", to="bk3RNwTe3H0:CI2k_HHwgIpoDKCIZvvDMExUdFQ3P1", html=None),
    bad=replace(MESSAGE, channel="push", to="nobody\r\nX: y", html=None),
    accepted_id="0:1500415314455276%31bd1c9631bd1c96",
    refused_code="UNREGISTERED",
    retry_after=timedelta(seconds=60),
)
