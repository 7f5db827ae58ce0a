"""Tells machines that open every mail from people; by what they say of themselves, and no cleverer than that.

What is taken for a machine is counted as one and teaches nothing. A machine that says it is a browser is taken for a
person: opens are a hint, never a proof.
"""

import re
from collections.abc import Sequence
from typing import Final

#: Scanners of mail gateways, previews of chats, libraries, crawlers.
_NAMED: Final = re.compile(
    r"barracuda|mimecast|proofpoint|symantec|trendmicro|fireeye|cloudmark|ironport|safelinks|bingpreview"
    r"|slackbot|telegrambot|whatsapp/|facebookexternalhit|twitterbot|linkedinbot|discordbot|skypeuripreview"
    r"|\bbot\b|bot/|crawler|spider|headless|preview|scanner|curl/|wget/|python-|go-http-client|java/|okhttp"
    r"|libwww|httpclient|node-fetch|axios",
    re.IGNORECASE,
)
#: What the privacy protection of Apple's mail program sends, and nothing more: it loads every picture, read or not.
_BARE: Final = frozenset({"", "mozilla/5.0"})
#: Headers by which browsers and proxies say that it is a prefetch.
AHEAD: Final = ("purpose", "sec-purpose", "x-purpose", "x-moz")
_AHEAD: Final = re.compile(r"prefetch|prerender|preview", re.IGNORECASE)


def is_machine(user_agent: str, purposes: Sequence[str] = ()) -> bool:
    """Whether this says of itself that it is no person."""
    return (
        user_agent.strip().lower() in _BARE
        or _NAMED.search(user_agent[:500]) is not None
        or any(_AHEAD.search(purpose[:100]) for purpose in purposes)
    )
