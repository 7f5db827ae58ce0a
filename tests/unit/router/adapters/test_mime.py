"""What a mail must not let through, and how its headers look."""

import email
import email.policy
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.vendors import MESSAGE
from tidings.contracts.messages import Address, Attachment
from tidings.kernel.errors import BadValueError
from tidings.router.adapters.mail.mime import build

AT = datetime(2026, 11, 15, 12, 0, 1, tzinfo=UTC)


def file(**changes: Any) -> Attachment:
    return replace(Attachment(filename="a.pdf", media_type="application/pdf", content=b"%PDF"), **changes)


def fields(**changes: Any) -> str:
    return "".join(build(replace(MESSAGE, **changes), at=AT).fields)


@pytest.mark.parametrize("smuggled", ["x\r\nBcc: all@example.test", "x\nBcc: y", "x\ry", "x\0y"])
@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("subject", lambda bad: {"subject": bad}),
        ("to_name", lambda bad: {"to_name": bad}),
        ("sender.name", lambda bad: {"sender": Address(value="a@shop.example", name=bad)}),
        ("reply_to.name", lambda bad: {"reply_to": Address(value="a@shop.example", name=bad)}),
        ("to", lambda bad: {"to": f"{bad}@example.test"}),
        ("to", lambda bad: {"to": f"a@{bad}.test"}),
        ("sender", lambda bad: {"sender": Address(value=f"{bad}@shop.example")}),
        ("message_id", lambda bad: {"message_id": bad}),
        ("list_unsubscribe", lambda bad: {"list_unsubscribe": f"https://shop.example/{bad}"}),
        ("list_unsubscribe_mailto", lambda bad: {"list_unsubscribe_mailto": f"{bad}@shop.example"}),
        ("headers[0]", lambda bad: {"headers": (("X-A", bad),)}),
        ("headers[0]", lambda bad: {"headers": ((bad, "a"),)}),
        ("attachments[0].filename", lambda bad: {"attachments": (file(filename=bad),)}),
        ("attachments[0].media_type", lambda bad: {"attachments": (file(media_type=bad),)}),
        ("attachments[0].inline_cid", lambda bad: {"attachments": (file(inline_cid=bad),)}),
    ],
)
def test_no_value_smuggles_in_a_header(field: str, changes: Any, smuggled: str) -> None:
    """A line break or a zero in any value is refused, by the name of the field and without the value."""
    with pytest.raises(BadValueError) as refused:
        build(replace(MESSAGE, **changes(smuggled)), at=AT)

    assert refused.value.field == field
    assert "Bcc" not in str(refused.value)


@pytest.mark.parametrize("name", ["From", "BCC", "Message-Id", "Content-Type", "DKIM-Signature", "received"])
def test_our_own_headers_are_ours(name: str) -> None:
    """A caller's header can't take the place of one that Tidings writes."""
    with pytest.raises(BadValueError, match=r"headers\[0\]"):
        fields(headers=((name, "x"),))


@pytest.mark.parametrize(
    "address",
    [
        "",
        "laila",
        "@example.test",
        "laila@",
        "a b@example.test",
        "a@b@c..test",
        "a@exa mple",
        '"a b@x.test',
        '"a"b"@x.test',
    ],
)
def test_bad_addresses_are_refused(address: str) -> None:
    """Each by its field, and unquoted."""
    with pytest.raises(BadValueError) as refused:
        build(replace(MESSAGE, to=address), at=AT)

    assert refused.value.field == "to"


@pytest.mark.parametrize("to", ['"a b"@x.test', r'"a\"> b"@x.test'])
def test_a_quoted_local_part_stays_in_its_quotes(to: str) -> None:
    """In the envelope and in the mail, where it is read back as it was."""
    mail = build(replace(MESSAGE, to=to), at=AT)
    read = email.message_from_bytes(mail.data(()), policy=email.policy.default)

    assert mail.to == to
    assert read["To"].addresses[0].addr_spec.rpartition("@")[2] == "x.test"
    assert f"<{to}>" in "".join(mail.fields)


@pytest.mark.parametrize(
    "name", ["References", "In-Reply-To", "List-Id", "list-post", "X-Priority", "Resent-To"]
)
def test_fields_for_programs_are_folded_and_never_encoded(name: str) -> None:
    """Pieces of more than a line's length stay whole: encoded words would mean nothing there."""
    ids = [f"<{'a' * 90}.{n}@mail.shop.example>" for n in range(30)]
    written = next(
        line
        for line in build(replace(MESSAGE, headers=((name, " ".join(ids)),)), at=AT).fields
        if line.startswith(name)
    )

    assert "=?" not in written
    assert max(map(len, written.split("\r\n"))) <= 998
    assert len(written.split("\r\n")) > 10
    assert written.removeprefix(f"{name}:").split() == ids


@pytest.mark.parametrize("value", ["<id@bücher.example>", "<a@b> \x01", "<" + "a" * 950 + ">", "", " <a@b>"])
def test_fields_for_programs_refuse_what_they_can_not_hold(value: str) -> None:
    with pytest.raises(BadValueError) as refused:
        fields(headers=(("References", value),))

    assert refused.value.field == "headers[0]"


@pytest.mark.parametrize("changes", [{"text": None, "html": None}, {"text": "\0"}, {"html": "\ud800"}])
def test_bodies_that_can_not_be_sent(changes: dict[str, Any]) -> None:
    """No body at all, a zero, half a character."""
    with pytest.raises(BadValueError):
        build(replace(MESSAGE, **changes), at=AT)


@pytest.mark.parametrize(
    "media_type", ["pdf", "message/rfc822", "multipart/mixed", "text/plain; charset=x", ""]
)
def test_bad_media_types_are_refused(media_type: str) -> None:
    """What a base64 part can't be."""
    with pytest.raises(BadValueError, match="media_type"):
        build(replace(MESSAGE, attachments=(file(media_type=media_type),)), at=AT)


def test_the_usual_headers() -> None:
    """From, To, Subject, Date, a stable Message-ID, and a word to auto-responders."""
    assert fields() == (
        'From: "Green Shop" <orders@shop.example>\r\n'
        'To: "Laila Unmistakable" <laila.unmistakable@example.test>\r\n'
        "Subject: Your most private order\r\n"
        "Date: Sun, 15 Nov 2026 12:00:01 +0000\r\n"
        "Message-ID: <ntf_01JCQ8ZK6T9Y4M2V7N5B3D1F0G@shop.example>\r\n"
        "MIME-Version: 1.0\r\nAuto-Submitted: auto-generated\r\n"
        'Content-Type: multipart/alternative;\r\n boundary="=_ntf_01JCQ8ZK6T9Y4M2V7N5B3D1F0G_alt"\r\n'
    )


def test_one_click_unsubscribe() -> None:
    """RFC 8058: the URL, the mail address, and Post only where there is an https URL."""
    both = fields(list_unsubscribe="https://t.example/u/abc", list_unsubscribe_mailto="u@t.example")
    by_mail = fields(list_unsubscribe_mailto="u@t.example")
    insecure = fields(list_unsubscribe="http://127.0.0.1:8080/u/abc")

    assert "List-Unsubscribe: <https://t.example/u/abc>,\r\n <mailto:u@t.example>\r\n" in both
    assert "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n" in both
    assert "List-Unsubscribe: <mailto:u@t.example>\r\n" in by_mail
    assert "Post" not in by_mail + insecure


def test_the_same_message_builds_the_same_bytes() -> None:
    """A repeat can be recognised."""
    assert build(MESSAGE, at=AT) == build(MESSAGE, at=AT)


def test_a_sender_in_unicode_goes_out_in_ascii() -> None:
    """The domain of an address is written in its ASCII form wherever it stands."""
    mail = build(replace(MESSAGE, sender=Address(value="post@bücher.example")), at=AT)

    assert mail.sender == "post@xn--bcher-kva.example"
    assert mail.domain == "xn--bcher-kva.example"
    assert not mail.needs_utf8


@pytest.mark.parametrize(("text", "html", "kind"), [("a", None, "text/plain"), (None, "a", "text/html")])
def test_one_body_needs_no_parts(text: str | None, html: str | None, kind: str) -> None:
    """Levels that are not needed are not there."""
    assert fields(text=text, html=html).endswith(
        f"Content-Type: {kind}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n"
    )


def test_nothing_of_a_message_shows() -> None:
    """Printing one gives its id and its channel away, and no more."""
    shown = repr(MESSAGE) + repr(MESSAGE.sender) + repr(file()) + repr(build(MESSAGE, at=AT))

    assert "ntf_" in shown
    assert not any(word in shown for word in ("laila", "orders@", "private", "tea", "%PDF", "a.pdf"))
