"""A mail that we build says, to the standard library's parser, exactly what we meant: in every script."""

import email
import email.policy
from datetime import UTC, datetime
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.utils import parseaddr, parsedate_to_datetime

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.vendors import MESSAGE
from tidings.contracts.messages import Address, Attachment, OutboundMessage
from tidings.router.adapters.mail.mime import build

AT = datetime(2026, 11, 15, 12, 0, 1, tzinfo=UTC)

#: Anything that people write in one line, in any script; controls other than the tab have no business in a header.
LINES = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]) | st.sampled_from(' <>"\\@,;:()=?_.'),
    max_size=200,
)
WORDS = st.text(st.sampled_from("abcXYZ019 -_.,!'Äßéسلامآئپښڼ中文🙂é"), max_size=120)
BODIES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=500)
FILES = st.builds(
    Attachment,
    filename=LINES.map(str.strip).filter(bool),
    media_type=st.sampled_from(
        ["application/pdf", "image/png", "text/plain", "text/csv", "application/x-a+b"]
    ),
    content=st.binary(max_size=300),
    inline_cid=st.none(),
)
PICTURES = st.builds(
    Attachment,
    filename=st.just("logo.png"),
    media_type=st.just("image/png"),
    content=st.binary(max_size=200),
    inline_cid=st.sampled_from(["logo", "a.b@shop.example", "x_1"]),
)


def parsed(message: OutboundMessage) -> EmailMessage:
    data = build(message, at=AT).data()
    assert all(len(line) <= 998 for line in data.split(b"\r\n"))
    assert b"\n" not in data.replace(b"\r\n", b"")
    assert data.isascii()
    found = email.message_from_bytes(data, policy=email.policy.default)
    assert isinstance(found, EmailMessage)
    return found


def with_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")


def meant(**changes: object) -> OutboundMessage:
    fields = {name: getattr(MESSAGE, name) for name in MESSAGE.__dataclass_fields__}
    return OutboundMessage(**{**fields, **changes})


@given(subject=WORDS | LINES)
@example("=?utf-8?q?looks_encoded?=")
@example("x" * 500)
@example("a  b" + " c" * 80)
@example(" leading and trailing ")
@example("é" * 100 + " " + "ascii " * 20)
def test_subjects_survive(subject: str) -> None:
    """A subject arrives as it was, whatever it is made of."""
    assert parsed(meant(subject=subject))["Subject"] == subject


@given(name=WORDS | LINES)
@example('"Quoted" \\ Name')
@example("Müller, Dr. (Praxis) <x@y.example>")
@example("n" * 200)
def test_names_survive(name: str) -> None:
    """What stands beside an address arrives as it was, and can't become an address itself."""
    message = meant(sender=Address(value="orders@shop.example", name=name), to_name=name)
    found = parsed(message)

    for field, spec in (("From", "orders@shop.example"), ("To", MESSAGE.to)):
        (address,) = found[field].addresses
        assert address.addr_spec == spec
        assert display_name(message, field) == name


def display_name(message: OutboundMessage, field: str) -> str:
    # Not `address.display_name`: in Python 3.11 it puts a space between two encoded words (RFC 2047, 6.2 says none).
    raw = email.message_from_bytes(build(message, at=AT).data())[field]
    phrase, _ = parseaddr(raw.replace("\r", "").replace("\n", ""))
    return str(make_header(decode_header(phrase))) if "=?" in phrase else phrase


@given(text=BODIES, html=BODIES)
@settings(max_examples=200)
def test_bodies_survive(text: str, html: str) -> None:
    """Both bodies arrive as they were; only line ends have one form."""
    found = parsed(meant(text=text, html=html))
    plain, rich = found.iter_parts()

    assert found.get_content_type() == "multipart/alternative"
    assert plain.get_content() == with_crlf(text)
    assert rich.get_content() == with_crlf(html)
    assert found.get_body(("html",)) is not None


@given(attached=st.lists(FILES, max_size=3), inline=st.lists(PICTURES, max_size=2), text=BODIES)
@example(attached=[Attachment(filename="<>", media_type="application/pdf", content=b"")], inline=[], text="")
@settings(max_examples=200)
def test_files_survive(attached: list[Attachment], inline: list[Attachment], text: str) -> None:
    """Files and pictures arrive with their names, types and bytes, each in its place."""
    found = parsed(meant(text=text, html="<img src='cid:logo'>", attachments=(*attached, *inline)))

    assert found.get_content_type() == ("multipart/mixed" if attached else "multipart/alternative")
    got = list(found.iter_attachments()) if attached else []
    # Not `get_filename`: it takes the < and > off a name that has both.
    names = [part["Content-Disposition"].params["filename"] for part in got]
    assert list(zip(names, (part.get_content_type() for part in got), strict=True)) == [
        (file.filename, file.media_type) for file in attached
    ]
    assert [part.get_payload(decode=True) for part in got] == [file.content for file in attached]
    related = [part for part in found.walk() if part.get_content_type() == "multipart/related"]
    assert len(related) == bool(inline)
    pictures = [part for whole in related for part in whole.iter_parts()][1:]
    assert [(part["Content-ID"], part.get_payload(decode=True)) for part in pictures] == [
        (f"<{picture.inline_cid}>", picture.content) for picture in inline
    ]


@given(value=WORDS | LINES)
def test_further_headers_survive(value: str) -> None:
    """A header of the caller's own arrives as it was."""
    assert parsed(meant(headers=(("X-Campaign", value),)))["X-Campaign"] == value


@given(st.datetimes(min_value=datetime(1990, 1, 1), max_value=datetime(2200, 1, 1), timezones=st.just(UTC)))
def test_dates_survive(at: datetime) -> None:
    """The date is the moment of sending, to the second."""
    found = email.message_from_bytes(build(MESSAGE, at=at).data())

    assert parsedate_to_datetime(found["Date"]) == at.replace(microsecond=0)


@given(local=st.text(st.characters(categories=["Ll", "Lu", "Lo", "Nd"]), min_size=1, max_size=20))
def test_addresses_in_any_script(local: str) -> None:
    """An address that is not ASCII stands in the header as it is, and says that it needs SMTPUTF8."""
    mail = build(meant(to=f"{local}@example.test", to_name=None), at=AT)
    found = email.message_from_bytes(mail.data(), policy=email.policy.SMTPUTF8)

    assert mail.needs_utf8 == (not local.isascii())
    assert mail.to == f"{local}@example.test"
    assert f"To: <{local}@example.test>\r\n" in mail.fields
    assert found["Message-ID"] == f"<{MESSAGE.message_id}@shop.example>"
