"""The same sources of several tenants are compiled once; other sources never pass for them."""

from dataclasses import replace

from tests.support.rendering import content
from tidings.notify.render.batch_payload import render_call
from tidings.notify.render.model import Content, RenderJob, RenderLimits, key_of_sources
from tidings.notify.render.process import Loaded


def _published(subject: str, html: str) -> Content:
    return replace(content(subject=subject, html=html), key=key_of_sources(subject, html, None, None))


def _loads(*contents: Content) -> list[str]:
    jobs = [
        RenderJob(content=one, tenant=f"tnt_{n}", variables={}, locale="en") for n, one in enumerate(contents)
    ]
    call = render_call(Loaded(), jobs, limits=RenderLimits(), own_hosts=())
    return [argument for name, argument in call.loads if name == "loadBundle"]


def test_what_many_tenants_have_alike_is_loaded_once() -> None:
    assert len(_loads(*(_published("Hello {{name}}", "<p>{{name}}</p>") for _ in range(3)))) == 1
    assert len(_loads(_published("Hello", "<p>1</p>"), _published("Hello", "<p>2</p>"))) == 2


def test_no_other_sources_have_the_same_key() -> None:
    keys = [
        key_of_sources(*sources)
        for sources in (
            ("ab", "c", None),
            ("a", "bc", None),
            ("a", None, "bc"),
            ("a", "", "bc"),
            ("a1:b", "c", None),
            ("a", "1:b", "c"),
            ("", None, None),
            (None, None, None),
            (None, "\ud800", None),
        )
    ]
    assert len(set(keys)) == len(keys)
