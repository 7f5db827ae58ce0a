"""What was found about a domain, and how bad it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from msgspec import Struct

CheckName = Literal["spf", "dkim", "dmarc", "mx"]
#: From good to bad. `unknown`: the name servers did not answer.
Status = Literal["pass", "warn", "unknown", "fail"]

_ORDER: tuple[Status, ...] = ("pass", "warn", "unknown", "fail")
#: Longer records are shown by their beginning.
_MOST = 2_000


class DnsRecord(Struct, frozen=True, kw_only=True):
    """A TXT record."""

    name: str
    value: str


class DnsFinding(Struct, frozen=True, kw_only=True):
    """One record: what is there, what that means, what to do."""

    check: CheckName
    status: Status
    #: Where was looked.
    name: str
    #: The record as it is published; null where there is none.
    found: str | None
    #: What that means for mail of this domain.
    what: str
    #: What to do; null where nothing is to be done.
    how: str | None = None
    #: A record to publish, where one is missing.
    publish: DnsRecord | None = None


@dataclass(frozen=True, slots=True)
class DnsLookup:
    """The records that stand at a name, to be judged by one check."""

    check: CheckName
    name: str
    records: Sequence[str]

    def fail(self, what: str, how: str) -> DnsFinding:
        """Mail of the domain is refused or distrusted."""
        return self._finding("fail", what, how)

    def warn(self, what: str, how: str) -> DnsFinding:
        """Mail of the domain is taken, and could be trusted more."""
        return self._finding("warn", what, how)

    def good(self, what: str) -> DnsFinding:
        """There is nothing to do."""
        return self._finding("pass", what, None)

    def _finding(self, status: Status, what: str, how: str | None) -> DnsFinding:
        return DnsFinding(
            check=self.check, status=status, name=self.name, found=shown(self.records), what=what, how=how
        )


def shown(records: Sequence[str]) -> str | None:
    """Records for people to read: only what is visible, and not without end."""
    text = " | ".join(records)
    return "".join(c if c.isprintable() else "?" for c in text)[:_MOST] or None


def worst(findings: Sequence[DnsFinding]) -> Status:
    """How the whole stands."""
    return max((f.status for f in findings), key=_ORDER.index, default="pass")


def tags(record: str) -> dict[str, str]:
    """`v=DKIM1; k=rsa; p=…` by its tags, names in lower case; one that comes twice is its first."""
    found: dict[str, str] = {}
    for part in record.split(";"):
        name, equals, value = part.partition("=")
        if equals:
            found.setdefault(name.strip().lower(), value.strip())
    return found
