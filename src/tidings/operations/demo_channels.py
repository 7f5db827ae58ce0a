"""The demo tenant's channels: each through a vendor of the platform, set up once and never changed back."""

from typing import Final

from tidings.contracts.tenants import Channel
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.notify.channels import store
from tidings.notify.channels.configure import ChannelConfigurer
from tidings.notify.channels.model import ChannelConfig, Sender
from tidings.notify.channels.wire import PutChannel

_ACTOR = "tidings up"
_BY_NAME: Final = Sender(sender_id="Demo")
_CHANNELS: Final[dict[Channel, PutChannel]] = {
    "email": PutChannel(vendor="smtp", sender=Sender(from_address="hello@demo.example", from_name="Demo")),
    "sms": PutChannel(vendor="http", sender=_BY_NAME),
    "whatsapp": PutChannel(vendor="whatsapp_cloud", sender=_BY_NAME),
    "telegram": PutChannel(vendor="telegram_bot", sender=_BY_NAME),
    "viber": PutChannel(vendor="viber", sender=_BY_NAME),
    "voice": PutChannel(vendor="voice_otp_gateway", sender=_BY_NAME),
    "push": PutChannel(vendor="fcm"),
}


async def ensure_channels(db: Database, configurer: ChannelConfigurer, *, tenant_id: TenantId) -> None:
    """Set up those that are not there, as `PUT /api/v1/channels/…` does."""
    async with db.tenant(tenant_id) as tx:
        known = {found.channel for found in await store.find_channels(tx)}
        for channel, wanted in _CHANNELS.items():
            if channel not in known:
                await configurer.configure(tx, wanted.spec(channel), expect=_anything, actor=_ACTOR)


def _anything(_: ChannelConfig | None) -> None:
    """There is no version that it would have to be made from."""
