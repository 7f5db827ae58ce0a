"""What somebody typed into the search field: an id, an address, or a word that may be anything."""

import re
from dataclasses import dataclass
from typing import Final

_NUMBER: Final = re.compile(r"\+[\d\s().-]{5,30}")
#: Prefix of an id → where it is shown.
_SHOWN_AT: Final = {
    "ntf_": "/console/notifications/{}",
    "rcp_": "/console/people/{}",
    "sup_": "/console/suppressions/{}",
    "conv_": "/console/conversations/{}",
    "imp_": "/console/imports/{}",
    "dbt_": "/console/notifications?batch={}",
}
_ID: Final = re.compile(r"([a-z]+_)[0-9A-HJKMNP-TV-Z]{26}")
#: Channels whose addresses nothing can be told by.
UNSEEN_CHANNELS: Final = ("email", "sms", "push", "telegram", "viber")


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is looked for; one of them, or a word."""

    text: str
    #: Where the thing with this id is shown.
    path: str | None = None
    #: The channel that it is an address on.
    channel: str | None = None


def read_search(text: str, channel: str | None = None) -> Search:
    """What a text is; `channel` says that it is an address, where it does not show."""
    wanted = text.strip()
    found = _ID.fullmatch(wanted)
    if found is not None and found[1] in _SHOWN_AT:
        return Search(text=wanted, path=_SHOWN_AT[found[1]].format(wanted))
    if channel in UNSEEN_CHANNELS:
        return Search(text=wanted, channel=channel)
    if "@" in wanted:
        return Search(text=wanted, channel="email")
    if _NUMBER.fullmatch(wanted):
        return Search(text=wanted, channel="sms")
    return Search(text=wanted)
