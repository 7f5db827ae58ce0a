"""A renderer for tests that are no coroutines: one isolate, kept over many examples."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import count
from typing import Any

from tidings.notify.render.engine import V8Renderer
from tidings.notify.render.isolate import Isolate, program
from tidings.notify.render.model import Content, Rendered, RenderFailed, RenderJob, RenderLimits
from tidings.notify.templates.child import LocalTools
from tidings.notify.templates.compile.locale_content import compile_source
from tidings.notify.templates.model import BodyFormat, Compiled, LinkPolicy, Source

_KEYS = count()


def content(
    *,
    html: str | None = None,
    text: str | None = None,
    subject: str | None = None,
    locale: str = "en",
) -> Content:
    """Sources as if they had been compiled."""
    return Content(
        key=f"test/{next(_KEYS)}", locale=locale, direction="ltr", subject=subject, html=html, text=text
    )


def compiled_content(compiled: Compiled, locale: str) -> Content:
    """What publishing made, for rendering."""
    return Content(
        key=f"test/{next(_KEYS)}",
        locale=locale,
        direction=compiled.direction,
        subject=compiled.subject,
        html=compiled.html,
        text=compiled.text,
    )


def compile_html(body: str, *, locale: str = "en", allowed: Sequence[str] = ()) -> Compiled:
    """An HTML body, compiled."""
    source = Source(format=BodyFormat.HTML, body=body, subject="Subject")
    return compile_source(source, locale=locale, links=LinkPolicy(allowed=allowed))


def compile_mjml(body: str, *, locale: str = "en") -> Compiled:
    """What stands inside `<mj-body>`, compiled."""
    source = Source(format=BodyFormat.MJML, body=f"<mjml><mj-body>{body}</mj-body></mjml>", subject="Subject")
    return compile_source(source, locale=locale, links=LinkPolicy())


def body_of(compiled: Compiled) -> str:
    """The inside of the body, without the frame."""
    assert compiled.html is not None
    return (
        compiled.html.partition("<body")[2]
        .partition("<div lang=")[2]
        .partition(">")[2][: -len("</div></body></html>")]
    )


@cache
def in_process() -> LocalTools:
    """The tools that a child process has, without one; for what is pure."""
    return LocalTools(Isolate(RenderLimits(), program()), RenderLimits())


class Rendering:
    """Renders from a plain test."""

    def __init__(self, limits: RenderLimits | None = None) -> None:
        self._runner = asyncio.Runner()
        self._renderer = V8Renderer(limits=limits, own_hosts=["own.example"])

    def close(self) -> None:
        self._runner.run(self._renderer.close())
        self._runner.close()

    @property
    def tools(self) -> LocalTools:
        """What a child process has, in this one."""
        return in_process()

    def jobs(self, jobs: Sequence[RenderJob]) -> list[Rendered | RenderFailed]:
        return self._runner.run(self._renderer.render(jobs))

    def parse(self, source: str) -> dict[str, Any]:
        return dict(in_process().parse(source))

    def job(self, wanted: Content, variables: Mapping[str, Any], **more: Any) -> Rendered | RenderFailed:
        more.setdefault("locale", wanted.locale)
        return self.jobs([RenderJob(content=wanted, variables=variables, **more)])[0]

    def text(self, source: str, variables: Mapping[str, Any], *, locale: str = "en", **more: Any) -> str:
        """The text of a source; fails the test where it can't be rendered."""
        done = self.job(content(text=source, locale=locale), variables, **more)
        assert isinstance(done, Rendered), done
        assert done.text is not None
        return done.text

    def html(self, source: str, variables: Mapping[str, Any], *, locale: str = "en", **more: Any) -> str:
        """The HTML of a source; fails the test where it can't be rendered."""
        done = self.job(content(html=source, locale=locale), variables, **more)
        assert isinstance(done, Rendered), done
        assert done.html is not None
        return done.html

    def refused(self, source: str, variables: Mapping[str, Any], **more: Any) -> RenderFailed:
        """Why it is refused, as HTML; fails the test where it is not."""
        done = self.job(content(html=source), variables, **more)
        assert isinstance(done, RenderFailed), done
        return done
