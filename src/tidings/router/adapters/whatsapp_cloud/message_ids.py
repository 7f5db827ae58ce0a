"""How WhatsApp's messages are called here: Meta's own id of one is base64, and holds the person's telephone number.

So a message is called by a mark of that id. The random half of the id keeps anybody from finding the number by trying.
"""

import hashlib
from typing import Final

_LENGTH: Final = 40


def message_name(wamid: str) -> str:
    """The same for the same message, another one for every other."""
    digest = hashlib.sha256(wamid.encode("utf-8", "replace")).hexdigest()
    return f"wa-{digest[:_LENGTH]}"
