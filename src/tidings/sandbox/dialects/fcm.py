"""FCM as its HTTP v1 API speaks it: a token for a service account, then `POST /v1/projects/{project}/messages:send`."""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qs

import msgspec

from tidings.sandbox.dialects.dialect import Dialect, SubmittedMessage, Trouble
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse, json_answer

_PATH = re.compile(r"/v1/projects/(?P<project>[^/]+)/messages:send")
_TOKEN_PATH: Final = "/token"  # noqa: S105  # a path
_SCOPE: Final = "https://www.googleapis.com/auth/firebase.messaging"
_GRANT: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_MOST_BYTES: Final = 4096
_FCM_ERROR: Final = "type.googleapis.com/google.firebase.fcm.v1.FcmError"

#: Why FCM says no: HTTP's number, Google's word, FCM's word, and what is written beside.
_REFUSALS: Final[Mapping[Trouble, tuple[int, str, str | None, str]]] = {
    "invalid_recipient": (404, "NOT_FOUND", "UNREGISTERED", "Requested entity was not found."),
    "blocked": (403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH", "SenderId mismatch"),
    "throttled": (429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", "Quota exceeded."),
    "unavailable": (503, "UNAVAILABLE", "UNAVAILABLE", "The service is currently unavailable."),
    "unauthorised": (401, "UNAUTHENTICATED", None, "Request had invalid authentication credentials."),
}


class FcmDialect(Dialect):
    """Plays FCM, and the place where Google gives tokens."""

    name = "fcm"
    tells = False

    def read(self, request: SandboxRequest) -> SubmittedMessage | SandboxResponse:
        """A message; or the question for a token."""
        if request.method != "POST":
            return _error(404, "NOT_FOUND", None, "Not found.")
        if request.path == _TOKEN_PATH:
            return _token(request.body)
        path = _PATH.fullmatch(request.path)
        if path is None:
            return _error(404, "NOT_FOUND", None, "Not found.")
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return _error(*_REFUSALS["unauthorised"])
        return _asked(path["project"], request.body)

    def accepted(self, asked: SubmittedMessage, message_id: str) -> SandboxResponse:
        """Taken under the project and the id of the sandbox."""
        return json_answer({"name": f"projects/{asked.sender}/messages/0:{message_id}"})

    def refused(self, asked: SubmittedMessage, trouble: Trouble, retry_after: int | None) -> SandboxResponse:
        """Google's number and words."""
        return _error(*_REFUSALS[trouble], retry_after=retry_after)


def _token(body: bytes) -> SandboxResponse:
    """One for an hour, for a request in the right form; the key that signed is not checked here."""
    try:
        given = parse_qs(body.decode("ascii"), strict_parsing=True)
        assertion = given.get("assertion", [""])[0]
        head, claims, signature = assertion.split(".")
        said = msgspec.json.decode(_decoded(claims), type=dict[str, Any])
        signs = msgspec.json.decode(_decoded(head), type=dict[str, Any]).get("alg")
        whole = len(_decoded(signature)) >= 128
    except (ValueError, binascii.Error, msgspec.MsgspecError):
        return _no_token("invalid_request", "Bad Request")
    if given.get("grant_type") != [_GRANT]:
        return _no_token("unsupported_grant_type", "Invalid grant_type")
    if signs != "RS256" or not whole or not isinstance(said.get("iss"), str) or said.get("scope") != _SCOPE:
        return _no_token("invalid_grant", "Invalid JWT Signature.")
    return json_answer({"access_token": "ya29.sandbox", "expires_in": 3599, "token_type": "Bearer"})


def _asked(project: str, body: bytes) -> SubmittedMessage | SandboxResponse:
    try:
        given = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _bad("Invalid JSON payload received.", None)
    message = given.get("message")
    if not isinstance(message, dict):
        return _bad("Recipient of the message is not set.", "message")
    to, data, shown = message.get("token"), message.get("data", {}), message.get("notification", {})
    if not isinstance(to, str) or not to:
        return _bad("Recipient of the message is not set.", "message")
    if not isinstance(data, dict) or not all(isinstance(value, str) for value in data.values()):
        return _bad("Invalid value at 'message.data[0].value' (TYPE_STRING)", "message.data[0].value")
    if not isinstance(shown, dict) or len(msgspec.json.encode([data, shown])) > _MOST_BYTES:
        return _bad("Request contains an invalid argument.", None)
    if given.get("validate_only") is True:
        return json_answer({"name": f"projects/{project}/messages/fake_message_id"})
    title, text = shown.get("title"), shown.get("body")
    return SubmittedMessage(
        channel="push",
        sender=project,
        to=(to,),
        subject=title if isinstance(title, str) else None,
        text=text if isinstance(text, str) else "",
    )


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _no_token(error: str, words: str) -> SandboxResponse:
    return json_answer({"error": error, "error_description": words}, status=400)


def _bad(words: str, field: str | None) -> SandboxResponse:
    details: list[dict[str, Any]] = []
    if field is not None:
        violation = {"field": field, "description": words}
        details.append({"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation]})
    return _said(400, "INVALID_ARGUMENT", words, details)


def _error(
    status: int, word: str, code: str | None, words: str, *, retry_after: int | None = None
) -> SandboxResponse:
    details = [] if code is None else [{"@type": _FCM_ERROR, "errorCode": code}]
    return _said(status, word, words, details, retry_after)


def _said(
    status: int, word: str, words: str, details: Sequence[object], retry_after: int | None = None
) -> SandboxResponse:
    error: dict[str, Any] = {"code": status, "message": words, "status": word}
    if details:
        error["details"] = details
    return json_answer({"error": error}, status=status, retry_after=retry_after)
