"""What can go wrong with webhooks.

RefusalError
├── NotFoundError
│   ├── UnknownWebhookError            there is no webhook with this id
│   └── UnknownWebhookDeliveryError    there is no delivery with this id
└── ConflictError
    ├── TooManyWebhooksError           the tenant has as many as one may have
    └── WebhookPausedError             it is paused: resume it first
"""

from tidings.kernel.refusals import ConflictError, NotFoundError


class UnknownWebhookError(NotFoundError):
    """There is no webhook with this id."""

    code = "webhook_not_found"


class UnknownWebhookDeliveryError(NotFoundError):
    """There is no delivery with this id."""

    code = "webhook_delivery_not_found"


class TooManyWebhooksError(ConflictError):
    """There are as many webhooks as a tenant may have; delete one that is not needed any more."""

    code = "too_many_webhooks"


class WebhookPausedError(ConflictError):
    """The webhook is paused; resume it first."""

    code = "webhook_paused"
