"""DMARC's DNS tree walk: where a domain's policy is looked for, and which of the names above is its organisation's.

RFC 9989, 4.10. It takes the place of the Public Suffix List: records say themselves where an organisation begins.
"""

import re
from dataclasses import dataclass
from typing import Final

from tidings.kernel.dns import Resolver
from tidings.notify.channels.dns_check.model import tags

#: So many questions at most, however long the name is.
MOST_QUESTIONS: Final = 8
_DMARC: Final = re.compile(r"v\s*=\s*DMARC1\s*(;|\Z)")


@dataclass(frozen=True, slots=True)
class DmarcRecords:
    """The records at one name."""

    domain: str
    records: list[str]

    @property
    def tags(self) -> dict[str, str]:
        """Of the only record."""
        return tags(self.records[0])

    @property
    def public_suffix(self) -> str:
        """`y` for a domain under which others register, `n` for an organisation's own, else `u`."""
        return self.tags.get("psd", "u").lower()


def names_to_ask(domain: str) -> list[str]:
    """The name, then those above it; of a long one the seven last labels come after the name itself."""
    labels = domain.split(".")
    above = labels[1:] if len(labels) <= MOST_QUESTIONS else labels[-(MOST_QUESTIONS - 1) :]
    return [domain, *(".".join(above[start:]) for start in range(len(above)))]


async def records_at(resolver: Resolver, domain: str) -> list[str]:
    """What is published for the domain as DMARC."""
    return [text for text in await resolver.texts(f"_dmarc.{domain}") if _DMARC.match(text)]


async def find_policy(resolver: Resolver, domain: str) -> DmarcRecords | None:
    """The record that holds for the domain: its own, or its organisation's, or that of the suffix it was registered under."""
    found: list[DmarcRecords] = []
    for name in names_to_ask(domain):
        records = await records_at(resolver, name)
        if name == domain and records:
            return DmarcRecords(domain, records)
        # Several records are as good as none, and the walk goes on.
        if len(records) != 1:
            continue
        policy = DmarcRecords(name, records)
        found.append(policy)
        if policy.public_suffix in {"y", "n"}:
            break
    if not found:
        return None
    highest = found[-1]
    if highest.public_suffix == "y":
        # The organisation is one label below the suffix; it has a record of its own, or the suffix speaks for it.
        below = len(highest.domain.split(".")) + 1
        return next((policy for policy in found if len(policy.domain.split(".")) == below), highest)
    return highest
