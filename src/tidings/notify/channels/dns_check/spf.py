"""SPF: who may send as a domain (RFC 7208). It is read as a receiver reads it, includes and all."""

import re

from tidings.kernel.dns import Resolver
from tidings.notify.channels.dns_check.model import DnsFinding, DnsLookup, shown

#: Terms that make a receiver look something up; it gives up after ten of them (RFC 7208, 4.6.4).
_LOOKS_UP = re.compile(r"(include|a|mx|ptr|exists|redirect)([:=/].*)?\Z")
_MECHANISM = re.compile(
    r"[+?~-]?(all|include:\S+|a(:[^\s/]+)?(/\d+)?(//\d+)?|mx(:[^\s/]+)?(/\d+)?(//\d+)?|ptr(:\S+)?|ip4:[\d./]+"
    r"|ip6:[0-9a-f:./]+|exists:\S+)\Z"
)
_MODIFIER = re.compile(r"[a-z][a-z0-9_.-]*=\S*\Z")
_MOST_LOOKUPS = 10
_ALL = re.compile(r"(?:^|\s)([+?~-]?)all(?:\s|\Z)")


class _BrokenError(Exception):
    """The record can't be used by a receiver."""

    def __init__(self, what: str, how: str) -> None:
        super().__init__(what)
        self.what = what
        self.how = how


async def check_spf(resolver: Resolver, domain: str) -> DnsFinding:
    """What receivers make of the domain's SPF."""
    records = await _records(resolver, domain)
    lookup = DnsLookup("spf", domain, records)
    if not records:
        return lookup.fail(
            "There is no SPF record: receivers can't tell your mail from somebody else's.",
            f'Publish a TXT record at {domain}, such as "v=spf1 include:spf.your-provider.example ~all", '
            "with the include that your mail provider names.",
        )
    reader = _Reader(resolver)
    try:
        await reader.follow(domain, records)
    except _BrokenError as broken:
        return lookup.fail(broken.what, broken.how)
    return _judge(lookup, reader.lookups)


def _judge(lookup: DnsLookup, lookups: int) -> DnsFinding:
    record = lookup.records[0].lower()
    last = _ALL.search(record)
    if lookups > _MOST_LOOKUPS:
        return lookup.fail(
            f"The record takes more than {_MOST_LOOKUPS} look-ups, and receivers then take it as broken.",
            "Remove includes of providers that you no longer use, or write their addresses as ip4: and ip6:.",
        )
    if last is not None and last[1] in {"", "+"}:
        return lookup.fail(
            "The record ends in +all: it lets everybody send as you.",
            "Write ~all instead, or -all when you are sure that all who send for you are named.",
        )
    if last is None and "redirect=" not in record:
        return lookup.warn(
            "The record does not say what others are: receivers take everybody as neither good nor bad.",
            "Add ~all at its end.",
        )
    if last is not None and last[1] == "?":
        return lookup.warn(
            "The record ends in ?all, which says nothing about those who are not named.",
            "Write ~all instead.",
        )
    if re.search(r"(?:^|\s)[+?~-]?ptr\b", record):
        return lookup.warn(
            "The record uses ptr, which many receivers pass over.",
            "Write the servers' addresses as ip4: and ip6: instead.",
        )
    return lookup.good(f"The record is sound and takes {lookups} look-ups.")


class _Reader:
    """Reads a record with all that it includes; counts over the whole, so that a hostile tree ends soon."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self.lookups = 0

    async def follow(self, name: str, records: list[str], above: tuple[str, ...] = ()) -> None:
        """One record and what it leads to."""
        if len(records) > 1:
            raise _BrokenError(
                f"There are {len(records)} SPF records at {name}; receivers then take none of them.",
                "Put their terms together in one record and delete the others.",
            )
        if name in above:
            raise _BrokenError(f"The record includes itself by way of {name}.", "Remove that include.")
        for term in records[0].lower().split()[1:]:
            if not (_MECHANISM.match(term) or _MODIFIER.match(term)):
                raise _BrokenError(
                    f"{shown([term])} at {name} is no term of SPF, and receivers take the record as broken.",
                    "Correct or remove it.",
                )
            bare = term.lstrip("+?~-")
            if _LOOKS_UP.match(bare):
                self.lookups += 1
            if self.lookups > _MOST_LOOKUPS:
                return
            onward = re.fullmatch(r"(?:include:|redirect=)(\S+)", bare)
            # Macros depend on who is sending, and are not followed.
            if onward is not None and "%" not in onward[1]:
                await self._include(onward[1], (*above, name))

    async def _include(self, name: str, above: tuple[str, ...]) -> None:
        records = await _records(self._resolver, name)
        if not records:
            raise _BrokenError(
                f"{shown([name])} is included and has no SPF record; receivers take the whole as broken.",
                "Correct the include, or remove it.",
            )
        await self.follow(name, records, above)


async def _records(resolver: Resolver, name: str) -> list[str]:
    return [text for text in await resolver.texts(name) if re.match(r"v=spf1(\s|\Z)", text, re.IGNORECASE)]
