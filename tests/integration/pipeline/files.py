"""Files as requests bring them."""

import base64
import hashlib


def file_of(content: bytes, **facts: str) -> dict[str, str]:
    """A file as a request brings it."""
    name = hashlib.sha256(content).hexdigest()[:8] + ".txt"
    packed = base64.b64encode(content).decode()
    return {"filename": name, "media_type": "text/plain", "content": packed} | facts
