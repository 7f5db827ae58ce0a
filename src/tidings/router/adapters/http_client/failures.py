"""What is certain when a request over HTTP got no answer."""

from tidings.contracts.failures import NOT_ALLOWED_THERE
from tidings.contracts.messages import Outcome, Refused, TryLater, Unlearned
from tidings.router.adapters.egress import NotAllowedThereError


def outcome_of_failure(error: Exception) -> Outcome:
    """What is certain after a failure; the exception's own words are not kept, they name hosts and more."""
    import aiohttp

    match error:
        # The library wraps what the guard says.
        case NotAllowedThereError() | aiohttp.ClientConnectorError(os_error=NotAllowedThereError()):
            return TryLater(reason=NOT_ALLOWED_THERE, code="address")
        case aiohttp.ClientConnectorCertificateError():
            return TryLater(reason="the vendor's certificate is not one that we trust", code="tls")
        case aiohttp.ClientConnectorSSLError():
            return TryLater(reason="TLS could not be agreed on", code="tls")
        case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError():
            return TryLater(reason="the vendor can't be reached", code="connection")
        case aiohttp.InvalidURL():
            return Refused(reason="url is not one that can be asked", code="bad_message")
        case TimeoutError():
            return Unlearned(reason="the vendor did not answer in time")
        case aiohttp.ServerDisconnectedError() | ConnectionError():
            return Unlearned(reason="the vendor closed the connection without an answer")
        case aiohttp.ClientPayloadError():
            return Unlearned(reason="the vendor's answer broke off")
        case aiohttp.ClientResponseError():
            return Unlearned(reason="the vendor said something that is no HTTP answer")
    return Unlearned(reason="the answer was never learned")
