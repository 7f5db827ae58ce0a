"""DMARC: what receivers do with mail that only claims to be a domain's (RFC 9989)."""

from tidings.kernel.dns import Resolver
from tidings.notify.channels.dns_check.model import DnsFinding, DnsLookup, shown
from tidings.notify.channels.dns_check.tree_walk import DmarcRecords, find_policy

_POLICIES = ("none", "quarantine", "reject")
#: What a receiver does with a policy that is being tried (`t=y`).
_TRIED = {"reject": "quarantine", "quarantine": "none"}
#: What RFC 7489 had and RFC 9989 has no more.
_REMOVED = ("pct", "rf", "ri")


async def check_dmarc(resolver: Resolver, domain: str) -> DnsFinding:
    """The domain's own record, or else the one that a receiver finds above it."""
    policy = await find_policy(resolver, domain)
    if policy is None:
        return DnsLookup("dmarc", f"_dmarc.{domain}", []).fail(
            "There is no DMARC record: large receivers refuse or mark the mail of those who send much without one.",
            _publish(domain),
        )
    if policy.domain != domain and policy.public_suffix == "y":
        return DnsLookup("dmarc", f"_dmarc.{policy.domain}", policy.records).warn(
            f"There is no DMARC record of your own; {policy.domain} has one for all names that are registered under it.",
            _publish(domain),
        )
    return _judge(policy, inherited=policy.domain != domain)


def _publish(domain: str) -> str:
    return (
        f'Publish a TXT record at _dmarc.{domain}: "v=DMARC1; p=none; rua=mailto:dmarc@{domain}"; '
        "read its reports for some weeks, then write p=quarantine."
    )


def _judge(found: DmarcRecords, *, inherited: bool) -> DnsFinding:
    lookup = DnsLookup("dmarc", f"_dmarc.{found.domain}", found.records)
    if len(found.records) > 1:
        return lookup.fail("There are several DMARC records; receivers then take none.", "Leave one there.")
    tags = found.tags
    policy = ((tags.get("sp") if inherited else None) or tags.get("p", "")).lower()
    if policy not in _POLICIES:
        return lookup.warn(
            "The record has no policy that receivers know, which counts as none; older receivers pass over the whole record.",
            "Write p=none, p=quarantine or p=reject.",
        )
    if policy == "none":
        return lookup.warn(
            "The policy is none: receivers report mail that only claims to be yours, and deliver it all the same.",
            "When the reports show that your own mail passes, write p=quarantine or p=reject.",
        )
    if tags.get("t", "n").lower() == "y":
        return lookup.warn(
            f"The policy {policy} is being tried (t=y): receivers act as if it were {_TRIED[policy]}.",
            "Remove t=y when the reports show that your own mail passes.",
        )
    if tags.get("pct", "100") != "100":
        return lookup.warn(
            f"pct={shown([tags['pct']])} is no longer part of DMARC: some receivers go by it, others apply the policy to all mail.",
            "Remove pct; to try a policy, write t=y.",
        )
    old = [tag for tag in _REMOVED if tag in tags]
    if not tags.get("rua"):
        return lookup.warn(
            "The policy holds, and nobody gets a report when it is applied to your own mail.",
            "Add rua=mailto: with an address that reads the reports.",
        )
    said = f"The policy is {policy}, and reports have somewhere to go."
    if old:
        said += f" {', '.join(old)} can be removed: RFC 9989 has no such tag any more."
    return lookup.good(said)
