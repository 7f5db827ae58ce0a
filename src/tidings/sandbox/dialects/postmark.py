"""Postmark's protocol: `POST /email`, and records with a user name and a password."""

import base64
from collections.abc import Mapping, Sequence
from datetime import datetime
from email.utils import parseaddr
from typing import Any, Final

import msgspec

from tidings.sandbox.dialects.dialect import Dialect, SubmittedMessage, Trouble, WebhookRequest
from tidings.sandbox.hooks import SandboxHook
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse, json_answer
from tidings.sandbox.reading import read_object
from tidings.sandbox.receipts import SandboxReceipt

#: Who calls where the hook's secret is a password alone.
_USER: Final = "postmark"
#: A receipt's word → what Postmark says of it, and where it writes the time. That a mail is on its way it does not tell.
_RECORDS: Final[Mapping[str, tuple[Mapping[str, Any], str]]] = {
    "delivered": ({"RecordType": "Delivery", "Details": "smtp;250 2.0.0 OK"}, "DeliveredAt"),
    "read": ({"RecordType": "Open", "FirstOpen": True}, "ReceivedAt"),
    "failed": ({"RecordType": "Bounce", "Type": "Blocked", "TypeCode": 100006}, "BouncedAt"),
    "rejected": ({"RecordType": "Bounce", "Type": "SpamNotification", "TypeCode": 512}, "BouncedAt"),
    "bounced": ({"RecordType": "Bounce", "Type": "HardBounce", "TypeCode": 1}, "BouncedAt"),
    "complaint": (
        {"RecordType": "SpamComplaint", "Type": "SpamComplaint", "TypeCode": 100001},
        "BouncedAt",
    ),
}
_REFUSALS: Final[Mapping[Trouble, tuple[int, int, str]]] = {
    "invalid_recipient": (422, 300, "Invalid 'To' address: 'nobody'."),
    "blocked": (422, 406, "You tried to send to a recipient that has been marked as inactive."),
    "throttled": (429, 429, "Rate limit exceeded."),
    "unavailable": (503, 100, "Maintenance."),
    "unauthorised": (401, 10, "Request does not contain a valid Server token."),
}


class PostmarkDialect(Dialect):
    """Speaks as Postmark does."""

    name = "postmark"

    def read(self, request: SandboxRequest) -> SubmittedMessage | SandboxResponse:
        """A mail, or a question about the server."""
        if not request.headers.get("x-postmark-server-token"):
            return _error("unauthorised")
        if (request.method, request.path) == ("GET", "/server"):
            return json_answer({"ID": 1, "Name": "Sandbox", "Color": "blue"})
        if (request.method, request.path) != ("POST", "/email"):
            return SandboxResponse(status=404)
        body = read_object(request.body)
        to = parseaddr(str(body.get("To", "")))[1]
        if not to:
            return _error("invalid_recipient")
        if "TextBody" not in body and "HtmlBody" not in body:
            words = "Provide either email TextBody or HtmlBody or both."
            return json_answer({"ErrorCode": 300, "Message": words}, status=422)
        return SubmittedMessage(
            channel="email",
            sender=parseaddr(str(body.get("From", "")))[1],
            to=(to,),
            subject=body.get("Subject"),
            text=body.get("TextBody"),
            html=body.get("HtmlBody"),
        )

    def accepted(self, asked: SubmittedMessage, message_id: str) -> SandboxResponse:
        """Its id, and a code that says that there is no error."""
        return json_answer(
            {
                "To": ", ".join(asked.to),
                "MessageID": message_id,
                "ErrorCode": 0,
                "Message": "OK",
            }
        )

    def refused(self, asked: SubmittedMessage, trouble: Trouble, retry_after: int | None) -> SandboxResponse:
        """A code and a sentence."""
        return _error(trouble, retry_after)

    def receipts(
        self, receipts: Sequence[SandboxReceipt], hook: SandboxHook, now: datetime
    ) -> Sequence[WebhookRequest]:
        """Each in a request of its own; the hook's secret is `user:password`, or a password."""
        return [_call(receipt, hook) for receipt in receipts if receipt.beat.status in _RECORDS]


def _call(receipt: SandboxReceipt, hook: SandboxHook) -> WebhookRequest:
    secret = hook.secret if ":" in hook.secret else f"{_USER}:{hook.secret}"
    pair = f"{secret.partition(':')[0]}:somebody else's" if receipt.beat.forged else secret
    record, time = _RECORDS[receipt.beat.status]
    body = {
        **record,
        "MessageID": receipt.message_id,
        "ServerID": 1,
        "MessageStream": "outbound",
        "Recipient": "someone@example.test",
        time: receipt.happened_at.isoformat().replace("+00:00", "Z"),
        "Metadata": {},
    }
    if receipt.beat.reason is not None and record["RecordType"] == "Bounce":
        body["Details"] = receipt.beat.reason
    return WebhookRequest(
        url=hook.url,
        headers={
            "Content-Type": "application/json",
            "Authorization": f"Basic {base64.b64encode(pair.encode()).decode('ascii')}",
        },
        body=msgspec.json.encode(body),
        receipts=[receipt],
    )


def _error(trouble: Trouble, retry_after: int | None = None) -> SandboxResponse:
    status, code, words = _REFUSALS[trouble]
    return json_answer({"ErrorCode": code, "Message": words}, status=status, retry_after=retry_after)
