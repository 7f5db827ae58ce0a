"""A record that is missing comes ready to be published."""

from tidings.notify.channels.dns_check.advice import with_advice
from tidings.notify.channels.dns_check.model import DnsFinding, DnsRecord


def found(check: str, record: str | None, status: str = "fail") -> DnsFinding:
    return DnsFinding(check=check, status=status, name="x", found=record, what="w")  # type: ignore[arg-type]


def test_records_name_the_vendors_the_selector_and_the_domain() -> None:
    checks = [found("spf", None), found("dkim", None), found("dmarc", None), found("mx", None)]
    advised = with_advice(checks, "hotel.example", dkim_selector="k2", vendors=["ses_eu", "smtp"])

    assert [one.publish for one in advised] == [
        DnsRecord(name="hotel.example", value="v=spf1 include:amazonses.com a mx ~all"),
        DnsRecord(
            name="k2._domainkey.hotel.example", value="v=DKIM1; k=rsa; p=THE-PUBLIC-KEY-FROM-YOUR-VENDOR"
        ),
        DnsRecord(name="_dmarc.hotel.example", value="v=DMARC1; p=none; rua=mailto:dmarc@hotel.example"),
        None,
    ]


def test_a_record_that_is_there_gets_no_other_beside_it() -> None:
    checks = [found("spf", "v=spf1 -all", "warn"), found("dmarc", "v=DMARC1; p=reject", "pass")]
    assert with_advice(checks, "hotel.example", dkim_selector=None, vendors=["smtp"]) == checks
