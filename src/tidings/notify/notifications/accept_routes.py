"""The declared side of accepting: `endpoint` answers these two before the framework is asked, here they are described."""

from typing import Any

from litestar import Request, Response, post

from tidings.kernel.http.asgi import App, Message
from tidings.kernel.http.operations import deps_of, operation
from tidings.notify.accept.wire import AcceptedView, BulkInput, BulkView, NotificationInput
from tidings.notify.notifications.deps import Deps

TAG = "notifications"

AnyRequest = Request[Any, Any, Any]

#: A body that works as it stands: the platform's own template, to somebody new.
EXAMPLE = {
    "recipient": {
        "identity": {"type": "guest", "id": "g-1"},
        "display_name": "Laila",
        "locale": "fa-AF",
        "addresses": [{"channel": "email", "address": "laila@example.test"}],
    },
    "template": "otp",
    "channel": "email",
    "variables": {"code": "481516"},
    "correlation_id": "order-A-1001",
}


@post(
    "/",
    **operation(
        summary="Send a notification.",
        tag=TAG,
        scope="notifications:write",
        test_keys=True,
        body=NotificationInput,
        answer=AcceptedView,
        status=202,
        headers=["Idempotency-Key"],
        problems=[
            "invalid_variables",
            "recipient_not_found",
            "recipient_erased",
            "too_busy",
        ],
        description="`202` means that it is durable. `GET /{id}` and `GET /{id}/explain` show what becomes of it. With a test key it is decided and rendered, and reaches no vendor.",
        example=EXAMPLE,
    ),
)
async def send_notification(request: AnyRequest) -> Response[bytes]:
    """Send a notification."""
    return await _by(deps_of(request, Deps).front.one, request)


@post(
    "/bulk",
    **operation(
        summary="Send up to 5,000 notifications.",
        tag=TAG,
        scope="notifications:write",
        test_keys=True,
        body=BulkInput,
        answer=BulkView,
        status=202,
        headers=["Idempotency-Key"],
        problems=["too_busy", "all_refused"],
        description="Each has its own result, in their order: as for a single one, or the `problem` with it. One that is refused does not refuse the others. Where not one is accepted the answer is `422 all_refused`, with the same `results`.",
        example={"notifications": [EXAMPLE]},
    ),
)
async def send_notifications(request: AnyRequest) -> Response[bytes]:
    """Send many notifications."""
    return await _by(deps_of(request, Deps).front.many, request)


async def _by(app: App, request: AnyRequest) -> Response[bytes]:
    """What a raw handler answers, as an answer of the framework."""
    status, headers, body = 500, {}, b""

    async def keep(message: Message) -> None:
        nonlocal status, headers, body
        if message["type"] == "http.response.start":
            status = message["status"]
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in message["headers"]}
        else:
            body += message.get("body", b"")

    receive: Any = request.receive
    scope: Any = request.scope
    await app(scope, receive, keep)
    media_type = headers.pop("content-type", "application/json")
    headers.pop("content-length", None)
    return Response(body, status_code=status, media_type=media_type, headers=headers)


HANDLERS = [send_notification, send_notifications]
