"""The platform's own templates, as files, and the one call that publishes them."""

from tidings.notify.templates.platform.publish_set import publish_platform_set, unpublished

__all__ = ["publish_platform_set", "unpublished"]
