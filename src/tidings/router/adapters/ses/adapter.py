"""Amazon SES: whole mails over its API v2, one request for each, signed with Signature Version 4.

We build the mail ourselves and hand it over as it is: pictures, files, headers and the one-click unsubscribe are exactly those
that any mail server would get (SES puts its own Message-ID and Date in place of ours). SES does not recognise a repeated
message, so an answer that was never learned stays unlearned.
"""

import base64
import re
from collections.abc import Mapping
from datetime import UTC
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from tidings.contracts.adapters import Capabilities
from tidings.contracts.messages import OutboundMessage, Outcome, TryLater
from tidings.kernel.http_client.answer import HttpAnswer
from tidings.kernel.http_client.pool import HttpRequest
from tidings.router.adapters.callbacks.mail_events import MailMeaning, seeds
from tidings.router.adapters.http_client.account import ApiUrl, HttpAccount
from tidings.router.adapters.http_client.answers import (
    NO_MESSAGE_ID,
    Verdict,
    at,
    believed,
    checked,
    text_at,
    verdict_of,
)
from tidings.router.adapters.http_client.one_request import OneRequestAdapter
from tidings.router.adapters.kind import AdapterContext, AdapterKind
from tidings.router.adapters.mail.parts import ID_ARGUMENT, whole_mail
from tidings.router.adapters.ses.callbacks import EVENT_CODES, SesForm
from tidings.router.adapters.ses.sigv4 import Credentials, signed
from tidings.router.adapters.ses.sns import TOPIC_PATTERN
from tidings.router.adapters.setting_types import Token

_Region = Annotated[
    str, Meta(pattern=r"^[a-z]{2}(-[a-z]+)+-[0-9]{1,2}\Z", description="must be a region such as eu-west-1")
]
_Set = Annotated[
    str,
    Meta(max_length=64, pattern=r"^[A-Za-z0-9_-]+\Z", description="must be the name of a configuration set"),
]
_Topic = Annotated[
    str,
    Meta(
        pattern=TOPIC_PATTERN,
        description="must be the ARN of a topic such as arn:aws:sns:eu-west-1:123456789012:mail-events",
    ),
]
#: Headers that SES takes for orders: other configuration sets, other people's identities.
_ORDERS: Final = ("x-ses-",)
_SERVICE: Final = "ses"
#: What was wrong with the request, or not with it at all.
_VERDICTS: Final[Mapping[str, Verdict]] = {
    "MessageRejected": "refused",
    "BadRequestException": "refused",
    "ValidationException": "refused",
    "TooManyRequestsException": "try_later",
    "ThrottlingException": "try_later",
    "Throttling": "try_later",
    "LimitExceededException": "try_later",
    "AccountSuspendedException": "try_later",
    "SendingPausedException": "try_later",
    "MailFromDomainNotVerifiedException": "try_later",
    # The configuration set, the identity.
    "NotFoundException": "try_later",
    "AccessDeniedException": "try_later",
    "ExpiredTokenException": "try_later",
    "RequestExpired": "try_later",
    "InvalidClientTokenId": "try_later",
    "UnrecognizedClientException": "try_later",
    "InvalidSignatureException": "try_later",
    "SignatureDoesNotMatch": "try_later",
    "IncompleteSignature": "try_later",
    "MissingAuthenticationToken": "try_later",
    "MissingAuthenticationTokenException": "try_later",
    "NotAuthorized": "try_later",
    "OptInRequired": "try_later",
    # It does not say what had been done before.
    "InternalFailure": "unlearned",
    "ServiceUnavailable": "try_later",
}
_STATUSES: Final[Mapping[str, Verdict]] = {"403": "try_later", "404": "try_later", "500": "unlearned"}
#: What the value of a tag must not hold: Amazon refuses the whole mail.
_NOT_IN_TAGS: Final = re.compile(r"[^A-Za-z0-9_-]")
#: A MessageRejected that is about the account: an identity that is not verified, or an account that is still in its sandbox.
_UNVERIFIED: Final = "Email address is not verified"
_CODES: Final[Mapping[str, MailMeaning]] = {
    "MessageRejected": MailMeaning("rejected_by_provider", "content_refused"),
    "BadRequestException": MailMeaning("rejected_by_provider", "invalid_request"),
    "ValidationException": MailMeaning("rejected_by_provider", "invalid_request"),
    "AccountSuspendedException": MailMeaning("failed_temp", "account_suspended"),
    "SendingPausedException": MailMeaning("failed_temp", "account_suspended"),
    "MailFromDomainNotVerifiedException": MailMeaning("failed_temp", "sender_refused"),
    "LimitExceededException": MailMeaning("failed_temp", "quota_exceeded"),
    "TooManyRequestsException": MailMeaning("failed_temp", "throttled"),
    "ThrottlingException": MailMeaning("failed_temp", "throttled"),
}


class SesSettings(HttpAccount, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One account with Amazon SES in one region."""

    region: _Region
    #: That of the region, unless it is given.
    api_url: ApiUrl | None = None
    access_key_id: Token
    #: By reference as `secret_access_key_ref`, or as the account's `secret_ref`.
    secret_access_key: Token
    #: Of credentials that are good for a while only; by reference as `session_token_ref`.
    session_token: Token | None = None
    #: Its event destination tells what becomes of mails, and it decides about tracking: leave opens and clicks out of it.
    configuration_set: _Set | None = None
    #: SNS topics with notifications that are believed. Without any there is no hook.
    topics: Annotated[tuple[_Topic, ...], Meta(max_length=10)] = ()

    def __repr__(self) -> str:
        return f"SesSettings(region={self.region!r})"


class SesAdapter(OneRequestAdapter[SesSettings]):
    """Speaks to one account at Amazon SES."""

    name = "ses"
    channels = frozenset({"email"})
    capabilities = Capabilities(html=True, attachments=True)

    def __init__(self, settings: SesSettings, around: AdapterContext) -> None:
        super().__init__(settings, around)
        # An execution that waits for receipts without a hook waits in vain, and then sends again elsewhere.
        told = bool(settings.topics)
        self.capabilities = Capabilities(html=True, attachments=True, receipts=told)
        self._api = (settings.api_url or _usual_url(settings.region)).rstrip("/")
        self._credentials = Credentials(
            access_key_id=settings.access_key_id,
            secret_access_key=settings.secret_access_key,
            session_token=settings.session_token,
        )

    async def check(self) -> Outcome | None:
        """Ask about the account, and whether it may send."""
        return await self._sender.check(self._request("GET", "/v2/email/account"), read=_account)

    def ask(self, message: OutboundMessage) -> HttpRequest:
        """The mail as a request."""
        mail = whole_mail(message, at=self._clock.now(), orders=_ORDERS)
        body: dict[str, Any] = {
            "FromEmailAddress": mail.sender,
            "Destination": {"ToAddresses": [mail.to]},
            "Content": {"Raw": {"Data": base64.b64encode(mail.data()).decode("ascii")}},
            "EmailTags": [{"Name": ID_ARGUMENT, "Value": _NOT_IN_TAGS.sub("-", message.message_id)}],
        }
        if self._settings.configuration_set is not None:
            body["ConfigurationSetName"] = self._settings.configuration_set
        return self._request("POST", "/v2/email/outbound-emails", msgspec.json.encode(body))

    def _request(self, method: str, path: str, body: bytes | None = None) -> HttpRequest:
        url = f"{self._api}{path}"
        headers = signed(
            self._credentials,
            method=method,
            url=url,
            headers={"Content-Type": "application/json"} if body is not None else {},
            body=body or b"",
            region=self._settings.region,
            service=_SERVICE,
            at=self._clock.now().astimezone(UTC),
        )
        return HttpRequest(method=method, url=url, headers=headers, body=body)

    def read(self, answer: HttpAnswer, message: OutboundMessage) -> Outcome:
        """What the answer means."""
        said = answer.json()
        verdict = verdict_of(answer.status, _STATUSES)
        message_id = text_at(said, "MessageId")
        if verdict == "accepted":
            return (
                self._answered(verdict, answer, message, message_id=message_id)
                if message_id
                else NO_MESSAGE_ID
            )
        code = _error_of(answer, said)
        words = text_at(said, "message") or text_at(said, "Message")
        verdict = believed(verdict, answer, theirs=code is not None)
        if code is not None:
            verdict = _VERDICTS.get(code, verdict)
        if code == "MessageRejected" and (words or "").startswith(_UNVERIFIED):
            verdict = "try_later"
        return self._answered(verdict, answer, message, code=code, words=words)


def _usual_url(region: str) -> str:
    return f"https://email.{region}.amazonaws.com{'.cn' if region.startswith('cn-') else ''}"


def _error_of(answer: HttpAnswer, said: Any) -> str | None:
    """The kind of error, without what stands around it: `MessageRejected:http://internal.amazon.com/…`."""
    text = answer.headers.get("x-amzn-ErrorType") or text_at(said, "__type") or text_at(said, "code")
    return text.partition(":")[0].rpartition("#")[2] or None if text else None


def _account(answer: HttpAnswer) -> Outcome:
    said = answer.json()
    if answer.status == 200 and at(said, "SendingEnabled") is False:
        return TryLater(reason="the account may not send at the moment", code="SendingPausedException")
    if _error_of(answer, said) == "AccessDeniedException":
        # Amazon knows the key; it lacks `ses:GetAccount`.
        words = "the access key may not ask about the account, so nobody can tell whether it may send"
        return TryLater(reason=words, code="AccessDeniedException")
    return checked(answer.status)


KIND = AdapterKind(
    adapter=SesAdapter,
    title="Amazon SES",
    settings=SesSettings,
    credential_fields=("secret_access_key", "session_token"),
    main_credential="secret_access_key",
    by_settings=frozenset({"receipts"}),
    callbacks=SesForm(),
    proof="Amazon SNS: RSA with the certificate of its own host, one of the account's topics, 65 minutes",
    statuses=seeds({**_CODES, **EVENT_CODES}),
)
