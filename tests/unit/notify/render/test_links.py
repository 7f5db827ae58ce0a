"""A link that variables make leads to where the tenant allows, or nowhere."""

import pytest

from tests.support.rendering import Rendering, compile_html, compiled_content, content
from tidings.notify.render.model import Rendered, RenderFailed

ALLOWED = ("shop.example", "*.cdn.example")


def follow(rendering: Rendering, url: str, allowed: tuple[str, ...]) -> Rendered | RenderFailed:
    compiled = compile_html('<p><a href="{{url}}">go</a></p>')
    return rendering.job(compiled_content(compiled, "en"), {"url": url}, allowed_link_domains=allowed)


@pytest.mark.parametrize(
    "url",
    [
        "https://shop.example/a?b=1&c=2#d",
        "https://SHOP.example/",
        "https://shop.example:8443/",
        "http://a.cdn.example",
        "https://a.b.cdn.example/x",
        "mailto:help@shop.example",
        "tel:+93700000000",
        "https://own.example/u/token",
    ],
)
def test_these_are_followed(rendering: Rendering, url: str) -> None:
    done = follow(rendering, url, ALLOWED)

    assert isinstance(done, Rendered), done


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/",
        "https://cdn.example/",
        "https://shop.example.evil.example/",
        "https://evilshop.example/",
        "https://shop.example@evil.example/",
        "https://evil.example\\@shop.example/",
        "https:\\\\evil.example",
        "//evil.example/",
        "/relative",
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " javascript:alert(1)",
        "java\tscript:alert(1)",
        "data:text/html,hi",
        "vbscript:x",
        "file:///etc/passwd",
        "https://",
        "https:///shop.example",
        "https://shop.example%2eevil.example/",
        "https://[::1]/",
        "",
        'https://shop.example/"><script>',
        "cid:logo",
    ],
)
def test_these_are_not(rendering: Rendering, url: str) -> None:
    done = follow(rendering, url, ALLOWED)

    assert isinstance(done, RenderFailed)
    assert done.code == "link_not_allowed"
    assert "evil" not in done.detail


def test_without_a_list_any_host_will_do_but_not_any_scheme(rendering: Rendering) -> None:
    assert isinstance(follow(rendering, "https://anywhere.example/", ()), Rendered)
    assert isinstance(follow(rendering, "javascript:alert(1)", ()), RenderFailed)


def test_a_link_made_of_pieces_is_judged_as_a_whole(rendering: Rendering) -> None:
    compiled = compile_html('<a href="https://shop.example{{rest}}">go</a>')
    wanted = compiled_content(compiled, "en")

    assert isinstance(rendering.job(wanted, {"rest": "/a"}, allowed_link_domains=ALLOWED), Rendered)
    assert isinstance(
        rendering.job(wanted, {"rest": ".evil.example"}, allowed_link_domains=ALLOWED), RenderFailed
    )


def test_the_text_alternative_is_judged_too(rendering: Rendering) -> None:
    compiled = compile_html('<a href="{{url}}">go</a>')
    assert compiled.text is not None
    done = rendering.job(content(text=compiled.text), {"url": "javascript:alert(1)"})

    assert isinstance(done, RenderFailed)


@pytest.mark.parametrize(
    "value", ["red;background:url(https://evil.example)", "url(x)", "expression(1)", "a:b", "}"]
)
def test_a_value_in_a_style_says_no_more_than_its_part(rendering: Rendering, value: str) -> None:
    wanted = compiled_content(compile_html('<p style="color:{{c}}">x</p>'), "en")

    failed = rendering.job(wanted, {"c": value})
    fine = rendering.job(wanted, {"c": "rgb(1, 2, 3)"})

    assert isinstance(failed, RenderFailed)
    assert isinstance(fine, Rendered)
