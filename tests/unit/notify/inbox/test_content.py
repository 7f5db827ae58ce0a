"""What a template may say in the in-app inbox."""

from typing import Any

import msgspec
import pytest

from tidings.notify.inbox_content.model import ContentFault, InboxContent
from tidings.notify.inbox_content.read import decode_content, encode_content, read_content


def read(allowed: tuple[str, ...] = (), **document: Any) -> InboxContent | ContentFault:
    text = msgspec.json.encode({"title": "A parcel"} | document).decode()
    return read_content(None, text, json=True, allowed=allowed, locale="en")


def test_a_text_has_its_subject_as_title() -> None:
    content = read_content(" A parcel ", "It is {on} its way", json=False, allowed=())

    assert content == InboxContent(title="A parcel", body="It is {on} its way")


def test_markdown_becomes_html_without_any_html_of_its_author() -> None:
    content = read(body="**Now** <script>x</script> ![p](https://x.test/p.png)", body_format="markdown")

    assert isinstance(content, InboxContent)
    assert content.body_html is not None
    assert content.body_html.startswith("<p><strong>Now</strong> &lt;script&gt;x&lt;/script&gt; ")
    assert "<img" not in content.body_html


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"title": ""}, "title"),
        ({"title": " "}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"body": "x" * 4001}, "body"),
        ({"colour": "red"}, "colour"),
        ({"link": "javascript:alert(1)"}, "link"),
        ({"link": "https://a b"}, "link"),
        ({"link": "https:example.com"}, "link"),
        ({"link": "https://user@shop.test/"}, "link"),
        ({"picture": "http://shop.test/p.png"}, "picture"),
        ({"actions": [{"name": "Go!", "label": "Go"}]}, "actions[0].name"),
        ({"actions": [{"name": "go", "label": "Go", "url": "data:x"}]}, "actions[0].url"),
        ({"actions": [{"name": "go", "label": "1"}, {"name": "go", "label": "2"}]}, "actions"),
        ({"tags": ["Big words"]}, "tags[0]"),
        ({"data": {"x": "y" * 5000}}, "data"),
        ({"expires_at": "tomorrow"}, "expires_at"),
        ({"expires_at": "2026-11-15T12:00:00"}, "expires_at"),
        ({"body": "[x](javascript:alert(1)) [y](ftp://x.test)", "body_format": "markdown"}, "body"),
    ],
)
def test_what_is_wrong_is_named(document: dict[str, Any], field: str) -> None:
    fault = read(**document)

    assert isinstance(fault, ContentFault)
    assert fault.field == field


@pytest.mark.parametrize(
    "document",
    [
        {"link": "https://elsewhere.test/"},
        {"picture": "https://elsewhere.test/p.png"},
        {"actions": [{"name": "go", "label": "Go", "url": "https://shop.test.elsewhere.test"}]},
        {"body": "[x](https://elsewhere.test)", "body_format": "markdown"},
    ],
)
def test_links_lead_to_allowed_domains_alone(document: dict[str, Any]) -> None:
    assert isinstance(read(("shop.test",), **document), ContentFault)
    assert isinstance(read((), **document), InboxContent)


def test_links_to_allowed_domains_may_stand() -> None:
    fine = {"link": "https://shop.test/a", "picture": "https://cdn.shop.test/p.png"}

    assert isinstance(read(("shop.test", "*.shop.test"), **fine), InboxContent)


def test_what_is_no_json_is_refused() -> None:
    for text in ("", "{", "[]", "7"):
        fault = read_content(None, text, json=True, allowed=())
        assert isinstance(fault, ContentFault)


def test_content_is_read_as_it_was_written() -> None:
    content = read(body="x", tags=["a", "b", "a"], data={"n": 1}, expires_at="2026-11-15T12:00:00Z")

    assert isinstance(content, InboxContent)
    assert content.tags == ("a", "b")
    assert decode_content(encode_content(content)) == content
