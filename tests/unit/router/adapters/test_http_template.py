"""Requests described as data: filled as values, and impossible to break out of."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.vendors import MESSAGE
from tidings.kernel.errors import BadValueError
from tidings.router.adapters.http.template import compile_header, compile_json, compile_text, compile_url

SECRETS = {"token": "hunter2"}


def filled(template: object, **changes: Any) -> Any:
    return compile_json(template, SECRETS, "body")(replace(MESSAGE, **changes))


def test_a_lone_placeholder_is_the_value_itself() -> None:
    """Lists, numbers, objects and nothing keep their types."""
    metadata = {"n": 3, "list": [1, "a"], "deep": {"x": True}}

    assert filled(
        {"a": "{{metadata.n}}", "b": ["{{ metadata.list }}"], "c": "{{metadata.deep.x}}"}, metadata=metadata
    ) == {
        "a": 3,
        "b": [[1, "a"]],
        "c": True,
    }
    assert filled("{{html}}", html=None) is None
    assert filled("{{metadata.missing.more}}", metadata=metadata) is None
    assert filled({"fixed": 1, "none": None}) == {"fixed": 1, "none": None}


def test_a_placeholder_within_words_is_text() -> None:
    """Nothing is an empty text there."""
    assert filled("Hi {{to_name}} ({{subject}})", subject=None) == "Hi Laila Unmistakable ()"
    assert filled("Bearer {{secret.token}}") == "Bearer hunter2"


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_no_text_changes_the_shape(text: str) -> None:
    """Whatever somebody wrote stays the value of its own key."""
    body = filled({"to": "{{to}}", "words": "x{{text}}y", "n": 1}, text=text, to=text)

    assert json.loads(json.dumps(body)) == {"to": text, "words": f"x{text}y", "n": 1}


@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_no_text_leaves_its_place_in_a_url(text: str) -> None:
    """A value can't become a host, a path step, a query or a fragment."""
    url = compile_url("https://api.vendor.example/to/{{to}}/send?from={{from}}", {})(
        replace(MESSAGE, to=text)
    )
    step = url.removeprefix("https://api.vendor.example/to/").removesuffix("/send?from=orders%40shop.example")

    assert not set(step) & set("/?#&=@ \r\n")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://x.example/",
        "https://{{to}}/",
        "https://a:b@x.example/",
        "//x.example",
        "https:///x",
        "https://{{to}}.x.example/",
    ],
)
def test_bad_urls_are_refused(url: str) -> None:
    """A host is never made of a message."""
    with pytest.raises(BadValueError, match=r"^url"):
        compile_url(url, SECRETS)


@pytest.mark.parametrize(
    "hole", ["{{nothing}}", "{{to.x}}", "{{secret.other}}", "{{ to }", "{{}}", "{{__class__}}", "to }}"]
)
def test_unknown_placeholders_are_refused_at_once(hole: str) -> None:
    """When the account is set up, not when the first message is sent; by the path of the place."""
    with pytest.raises(BadValueError) as refused:
        compile_json({"a": [{"b": f"x {hole}"}]}, SECRETS, "body")

    assert refused.value.field == "body.a[0].b"
    assert "hunter2" not in str(refused.value)


def test_headers_hold_one_line() -> None:
    """A line break in a value is refused when the message comes."""
    header = compile_header("{{subject}}", {}, "headers.X-Subject")

    assert header(replace(MESSAGE, subject="fine")) == "fine"
    with pytest.raises(BadValueError, match="X-Subject"):
        header(replace(MESSAGE, subject="a\r\nX-Evil: 1"))


def test_a_text_without_placeholders_stays() -> None:
    """Single braces mean nothing."""
    assert compile_text("a {b} c", {}, "body")(MESSAGE) == "a {b} c"


def test_endless_nesting_is_refused() -> None:
    """A template has an end."""
    nested: object = "x"
    for _ in range(40):
        nested = [nested]

    with pytest.raises(BadValueError, match="nested"):
        compile_json(nested, {}, "body")
