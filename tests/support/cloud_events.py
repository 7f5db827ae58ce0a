"""Events as another system would send them."""

import secrets
from typing import Any

from tidings.kernel.events import BATCH_CONTENT_TYPE, CONTENT_TYPE

STRUCTURED = {"Content-Type": CONTENT_TYPE}
BATCH = {"Content-Type": BATCH_CONTENT_TYPE}


def cloud_event(**attributes: Any) -> dict[str, Any]:
    """A reservation that was confirmed, unless the attributes say otherwise; None leaves one out."""
    event = {
        "specversion": "1.0",
        "id": secrets.token_hex(8),
        "source": "/hotels/kabul",
        "type": "reservation.confirmed",
        "subject": "reservation-1",
        "data": {"place": "Kabul"},
        **attributes,
    }
    return {name: value for name, value in event.items() if value is not None}
