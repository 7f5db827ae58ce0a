"""What goes wrong only because the request came over HTTP.

TidingsError
└── BadRequestError              the request itself is not in order
    ├── MalformedBodyError          the body is not JSON
    ├── WrongContentTypeError       the body is of a kind that is not read here
    ├── BodyTooLargeError           the body is longer than allowed
    ├── BodyTooSlowError            the body does not arrive
    ├── HeadTooLargeError           the address and headers are longer than allowed
    ├── NotHttpError                what arrived can't be read as a request
    ├── NoRouteError                nothing lives at this address
    ├── WrongMethodError            something does, and it does not take this method
    ├── PreconditionRequiredError   a change without the version it was made from
    ├── TooManyFailedLoginsError    too many keys that are none, from one place
    └── TooManyConnectionsError     more connections than are held at once
"""

from collections.abc import Sequence

from tidings.kernel.errors import TidingsError


class BadRequestError(TidingsError):
    """The request is not in order."""

    code = "bad_request"


class MalformedBodyError(BadRequestError):
    """The body is not valid JSON."""

    code = "malformed_body"


class WrongContentTypeError(BadRequestError):
    """The body has to be JSON: send `Content-Type: application/json`."""

    code = "wrong_content_type"


class BodyTooLargeError(BadRequestError):
    """The body is too large."""

    code = "body_too_large"

    def __init__(self, limit: int) -> None:
        super().__init__(f"the body is longer than the {limit} bytes that are taken here; send less at once")
        #: How many bytes are taken.
        self.limit = limit


class BodyTooSlowError(BadRequestError):
    """The body did not arrive in time; send it again, faster or in smaller parts."""

    code = "body_too_slow"


class HeadTooLargeError(BadRequestError):
    """The address and headers together are too long; send less in them."""

    code = "head_too_large"


class NotHttpError(BadRequestError):
    """This can't be read as an HTTP/1.1 request; check the method, the address and the headers."""

    code = "not_http"


class NoRouteError(BadRequestError):
    """Nothing lives at this address; /docs lists what there is."""

    code = "no_route"


class WrongMethodError(BadRequestError):
    """This address does not take that method."""

    code = "wrong_method"

    def __init__(self, allowed: Sequence[str]) -> None:
        super().__init__(f"this address takes {', '.join(allowed) or 'another method'}")
        #: The methods that it takes.
        self.allowed = tuple(allowed)


class PreconditionRequiredError(BadRequestError):
    """Send `If-Match` with the ETag that you read, so that nobody's change is overwritten unseen."""

    code = "precondition_required"


class TooManyFailedLoginsError(BadRequestError):
    """Too many requests with a key or token that is not valid came from your address; check the key, and wait for the time in Retry-After."""

    code = "too_many_failed_logins"

    def __init__(self, retry_after: float = 1.0) -> None:
        super().__init__()
        #: Seconds.
        self.retry_after = retry_after


class TooManyConnectionsError(BadRequestError):
    """As many connections as are held at once are open; use fewer, close those that are idle, or try again in a moment."""

    code = "too_many_connections"
