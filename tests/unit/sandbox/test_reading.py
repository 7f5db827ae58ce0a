"""What the sandbox makes of mails and requests that others wrote."""

from tests.support.clock import ManualClock
from tidings.sandbox.reading import found_words, join_request, page_html, read_body, show, title
from tidings.sandbox.store import MessageText, ReceivedMessage, Store


def mail(raw: bytes) -> ReceivedMessage:
    return Store(ManualClock()).add(
        adapter="smtp", channel="email", sender="a@b.test", to=("c@d.test",), raw=raw
    )


def test_somebody_elses_mail() -> None:
    """Quoted-printable, Latin-1, encoded words, repeated headers."""
    message = mail(
        b"Received: one\r\nReceived: two\r\nFrom: =?iso-8859-1?q?M=FCller?= <m@x.test>\r\n"
        b"Subject: =?utf-8?b?2LPZhNin?=\r\n =?utf-8?b?2YU=?=\r\nContent-Type: text/plain; charset=iso-8859-1\r\n"
        b"Content-Transfer-Encoding: quoted-printable\r\n\r\nGr=FC=DFe\r\nzwei\r\n"
    )

    shown = show(message)
    assert shown.subject == "سلام"
    assert title(message) == "سلام"
    assert shown.from_ == "m@x.test"
    assert shown.text == "Grüße\nzwei\n"
    assert shown.html is None
    assert shown.headers["Received"] == "one\ntwo"


def test_broken_mails_are_shown_as_far_as_they_go() -> None:
    """Nothing that arrives makes the page fail."""
    for raw in (
        b"",
        b"\r\n",
        b"no headers at all",
        b"\xff\xfe\x00\r\n\r\n\xff",
        b"Subject: =?nonsense?b?!!!?=\r\n\r\n",
        b"Content-Type: text/plain; charset=martian\r\n\r\nhello",
        b'Content-Type: multipart/mixed; boundary="x"\r\n\r\n--x\r\n--x--',
        b"Content-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!not base64",
    ):
        message = mail(raw)

        assert show(message).id == message.id
        assert isinstance(title(message), str)
        assert isinstance(page_html(message), str)


def test_text_is_shown_as_text() -> None:
    """A mail without HTML has none in its page either."""
    assert "&lt;script&gt;" in page_html(mail(b"Subject: x\r\n\r\n<script>"))


def test_requests_that_are_no_json_objects() -> None:
    """They are kept, and shown as far as they go."""
    store = Store(ManualClock())
    for body in (b"", b"[1]", b"not json", b'{"to": {"email": "x@y.test"}}', b'{"subject": 5}'):
        message = store.add(
            adapter="http", channel="sms", sender="", to=(), raw=join_request({"a": "b"}, body)
        )

        assert show(message).headers == {"a": "b"}


def test_a_text_message_looks_as_on_a_telephone() -> None:
    """In a bubble, in its own direction, and what looks like a tag is text."""
    message = Store(ManualClock()).add(
        adapter="http",
        channel="sms",
        sender="Demo",
        to=("+93700123456",),
        raw=join_request({}, '{"text": "کد <b>100%</b> شما"}'.encode()),
    )

    page = page_html(message)

    assert "کد &lt;b&gt;100%&lt;/b&gt; شما" in page
    assert 'dir="auto"' in page
    assert "border-radius" in page


def test_a_notification_looks_as_on_a_screen() -> None:
    """App, title and text, each in its own direction; without a title there is none."""
    store = Store(ManualClock())
    given = {"adapter": "fcm", "channel": "push", "sender": "green-shop", "to": ("phone",), "raw": b"{}\n{}"}
    whole = store.add(**given, words=MessageText(subject="کد 100%", text="<b>Do not share it</b>"))  # type: ignore[arg-type]
    untitled = store.add(**given, words=MessageText(text="hello"))  # type: ignore[arg-type]

    page = page_html(whole)

    assert page.index("green-shop") < page.index("کد 100%") < page.index("&lt;b&gt;Do not")
    assert page.count('dir="auto"') == 3
    assert page_html(untitled).count('dir="auto"') == 2


def test_what_nobody_would_see_is_shown_as_it_came() -> None:
    """JSON laid out; anything else as it is."""
    store = Store(ManualClock())
    bodies = (b'{"event":"paid","n":[1]}', b"a <b> that is no JSON", b"\xff")
    pages = [
        page_html(store.add(adapter="http", channel="webhook", sender="", to=(), raw=join_request({}, body)))
        for body in bodies
    ]

    assert "&quot;event&quot;: &quot;paid&quot;,\n" in pages[0]
    assert "a &lt;b&gt; that is no JSON" in pages[1]
    assert "\ufffd" in pages[2]


def test_a_vendors_words_are_found_where_they_usually_are() -> None:
    """However deep, in any case, in JSON and in forms; endless nesting ends."""
    deep = {"messages": [{"to": "x", "Text": {"body": "hello"}}], "Subject": "hi", "HtmlBody": "<p>hello</p>"}
    form = read_body({"content-type": "application/x-www-form-urlencoded; charset=utf-8"}, b"To=x&Body=a%2Bb")
    endless: dict[str, object] = {}
    endless["more"] = [endless, endless]

    assert found_words(deep) == MessageText(subject="hi", text="hello", html="<p>hello</p>")
    assert found_words(form) == MessageText(text="a+b")
    assert found_words(endless) == MessageText()


def test_what_a_dialect_says_goes_before_the_raw_form() -> None:
    """And counts in what is kept."""
    store = Store(ManualClock())
    raw = join_request({"content-type": "application/json"}, b'{"text": "raw"}')
    words = MessageText(subject="Subject", text="Text")
    message = store.add(adapter="ses", channel="email", sender="a", to=("b",), raw=raw, words=words)

    assert (show(message).subject, show(message).text, show(message).html) == ("Subject", "Text", None)
    assert title(message) == "Subject"
    assert store.bytes == len(raw) + len("SubjectText")
