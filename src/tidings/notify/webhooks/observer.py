"""What may be counted of webhooks."""


class WebhookObserver:
    """Hears what becomes of deliveries; a subclass counts it."""

    def called(self, outcome: str, count: int) -> None:
        """So many calls ended as `delivered`, `again` or `dead`."""

    def disabled(self, reason: str) -> None:
        """An endpoint is not called any more."""
