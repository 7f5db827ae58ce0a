"""DMARC: what receivers do with mail that only claims to be a domain's (RFC 7489, RFC 9091)."""

import re

from tidings.kernel.dns import Resolver
from tidings.notify.channels.dns_check.model import Finding, Status, shown, tags
from tidings.notify.channels.dns_check.organisation import organisation_of, places

_POLICIES = ("none", "quarantine", "reject")


async def check_dmarc(resolver: Resolver, domain: str) -> Finding:
    """The domain's own record, or else its organisation's, or else its registry's: what lies between is asked by nobody."""
    organisation = organisation_of(domain)
    for place in places(domain):
        name = f"_dmarc.{place}"
        records = [t for t in await resolver.texts(name) if re.match(r"v\s*=\s*DMARC1\s*(;|\Z)", t)]
        if records and place in (domain, organisation):
            return _judge(name, records, inherited=place != domain)
        if records:
            return _finding(
                "warn",
                name,
                records,
                f"There is no DMARC record of your own; {place} has one for all names below it, which few receivers look at.",
                _publish(organisation),
            )
    return _finding(
        "fail",
        f"_dmarc.{domain}",
        [],
        "There is no DMARC record: large receivers refuse or mark the mail of those who send much without one.",
        _publish(organisation),
    )


def _publish(domain: str) -> str:
    return (
        f'Publish a TXT record at _dmarc.{domain}: "v=DMARC1; p=none; rua=mailto:dmarc@{domain}"; '
        "read its reports for some weeks, then write p=quarantine."
    )


def _judge(name: str, records: list[str], *, inherited: bool) -> Finding:
    if len(records) > 1:
        return _finding(
            "fail",
            name,
            records,
            "There are several DMARC records; receivers then take none.",
            "Leave one there.",
        )
    found = tags(records[0])
    policy = (found.get("sp") if inherited else None) or found.get("p", "")
    if policy.lower() not in _POLICIES:
        return _finding(
            "fail",
            name,
            records,
            "The record has no policy that receivers know.",
            "Write p=none, p=quarantine or p=reject.",
        )
    if policy.lower() == "none":
        return _finding(
            "warn",
            name,
            records,
            "The policy is none: receivers report mail that only claims to be yours, and deliver it all the same.",
            "When the reports show that your own mail passes, write p=quarantine or p=reject.",
        )
    percent = found.get("pct", "100")
    if percent != "100":
        return _finding(
            "warn",
            name,
            records,
            f"The policy is applied to {shown([percent])} of 100 mails only.",
            "Remove pct when all is well.",
        )
    if not found.get("rua"):
        return _finding(
            "warn",
            name,
            records,
            "The policy holds, and nobody gets a report when it is applied to your own mail.",
            "Add rua=mailto: with an address that reads the reports.",
        )
    return _finding(
        "pass", name, records, f"The policy is {policy.lower()}, and reports have somewhere to go.", None
    )


def _finding(status: Status, name: str, records: list[str], what: str, how: str | None) -> Finding:
    return Finding(check="dmarc", status=status, name=name, found=shown(records), what=what, how=how)
