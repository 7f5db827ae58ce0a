"""Records to publish where a check found none: ready to be copied."""

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from tidings.contracts.channel_configs import adapter_of
from tidings.notify.channels.dns_check.model import DnsFinding, DnsRecord

#: Whom a domain lets send for it, by the adapter of the vendor; others send from the domain's own servers.
_SENDS: Final = {
    "sendgrid": "include:sendgrid.net",
    "mailgun": "include:mailgun.org",
    "postmark": "include:spf.mtasv.net",
    "ses": "include:amazonses.com",
}
_OWN_SERVERS: Final = "a mx"
_USUAL_SELECTOR: Final = "s1"
_Missing = Literal["spf", "dkim", "dmarc"]


def with_advice(
    findings: Sequence[DnsFinding], domain: str, *, dkim_selector: str | None, vendors: Sequence[str]
) -> list[DnsFinding]:
    """The findings, with a record to publish for each that is missing."""
    return [
        msgspec.structs.replace(one, publish=_record(one.check, domain, dkim_selector, vendors))
        if one.found is None and one.status == "fail" and one.check != "mx"
        else one
        for one in findings
    ]


def _record(check: _Missing, domain: str, selector: str | None, vendors: Sequence[str]) -> DnsRecord:
    if check == "spf":
        senders = dict.fromkeys(_sends(vendor) for vendor in vendors)
        return DnsRecord(name=domain, value=f"v=spf1 {' '.join(senders)} ~all")
    if check == "dkim":
        name = f"{selector or _USUAL_SELECTOR}._domainkey.{domain}"
        return DnsRecord(name=name, value="v=DKIM1; k=rsa; p=THE-PUBLIC-KEY-FROM-YOUR-VENDOR")
    return DnsRecord(name=f"_dmarc.{domain}", value=f"v=DMARC1; p=none; rua=mailto:dmarc@{domain}")


def _sends(vendor: str) -> str:
    adapter = adapter_of(vendor, _SENDS)
    return _OWN_SERVERS if adapter is None else _SENDS[adapter]
