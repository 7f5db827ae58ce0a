"""What a page of the sandbox may load: what stands in it, by its hash, and its own server."""

import base64
import hashlib
import re
from typing import Final

_INLINE: Final = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)


def page_policy(page: str, *, server: str = "") -> str:
    """The page's own script and style, its own server and frames, and another `server` with its scripts; nothing else."""
    allowed: dict[str, list[str]] = {"script": [server] if server else [], "style": []}
    for kind, text in _INLINE.findall(page):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        allowed[kind].append(f"'sha256-{digest}'")
    parts = [
        "default-src 'none'",
        f"connect-src 'self' {server}".strip(),
        "frame-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "form-action 'none'",
    ]
    return "; ".join(parts + [f"{kind}-src {' '.join(those)}" for kind, those in allowed.items() if those])
