"""Every dialect that the sandbox speaks, by its name."""

from collections.abc import Mapping
from typing import Final

from tidings.sandbox.dialects.apns import ApnsDialect
from tidings.sandbox.dialects.dialect import Dialect
from tidings.sandbox.dialects.fcm import FcmDialect
from tidings.sandbox.dialects.mailgun import MailgunDialect
from tidings.sandbox.dialects.postmark import PostmarkDialect
from tidings.sandbox.dialects.sendgrid import SendgridDialect
from tidings.sandbox.dialects.ses import SesDialect
from tidings.sandbox.dialects.telegram_bot import TelegramDialect
from tidings.sandbox.dialects.twilio import TwilioDialect
from tidings.sandbox.dialects.viber import ViberDialect
from tidings.sandbox.dialects.voice_otp_gateway import VoiceOtpDialect
from tidings.sandbox.dialects.vonage import VonageDialect
from tidings.sandbox.dialects.webpush import WebPushDialect
from tidings.sandbox.dialects.whatsapp_cloud import WhatsAppDialect

_ALL: tuple[Dialect, ...] = (
    ApnsDialect(),
    FcmDialect(),
    MailgunDialect(),
    PostmarkDialect(),
    SendgridDialect(),
    SesDialect(),
    TelegramDialect(),
    TwilioDialect(),
    ViberDialect(),
    VoiceOtpDialect(),
    VonageDialect(),
    WebPushDialect(),
    WhatsAppDialect(),
)

DIALECTS: Final[Mapping[str, Dialect]] = {dialect.name: dialect for dialect in _ALL}
