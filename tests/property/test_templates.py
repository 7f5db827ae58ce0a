"""Compiling and rendering commute, and no source whatever gets past them unharmed."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.rendering import Rendering, body_of, compile_html, compiled_content
from tidings.notify.render.model import Rendered, RenderFailed
from tidings.notify.templates.compile.markup import finish, inline_styles
from tidings.notify.templates.compile.sanitise import sanitise
from tidings.notify.templates.errors import CompileError

VALUES = {
    "a": "x & <y>",
    "t": True,
    "f": False,
    "l": [{"n": "1"}, {"n": "2"}, {"n": "3"}],
    "u": "https://x.example/?q=1&r=2",
}


@pytest.fixture(scope="module")
def rendering() -> Iterator[Rendering]:
    rendering = Rendering()
    yield rendering
    rendering.close()


words = st.sampled_from(["hello", "a b", "سلام", "&amp;", "é", "1 &lt; 2", " "])
values = st.sampled_from(
    ["{{a}}", "{{@root.a}}", "{{@root.u}}", '{{plural 2 one="#" other="# >"}}', "{{missing}}"]
)


def block(inner: "st.SearchStrategy[str]") -> "st.SearchStrategy[str]":
    return st.one_of(
        st.tuples(st.sampled_from("tf"), inner, inner).map(
            lambda p: f"{{{{#if {p[0]}}}}}{p[1]}{{{{else}}}}{p[2]}{{{{/if}}}}"
        ),
        st.tuples(st.sampled_from("tf"), inner).map(lambda p: f"{{{{#unless {p[0]}}}}}{p[1]}{{{{/unless}}}}"),
        inner.map(lambda p: f"{{{{#each @root.l}}}}{p}{{{{n}}}}{{{{/each}}}}"),
    )


attributes = st.sampled_from(
    [
        "",
        ' title="{{a}}"',
        " class='k {{#if t}}on{{/if}}'",
        ' align="left" title="x{{a}}y"',
        ' style="width: {{#if f}}{{/if}}10px"',
    ]
).filter(lambda text: "style" not in text)


def rows(cell: "st.SearchStrategy[str]") -> "st.SearchStrategy[str]":
    row = st.lists(cell.map(lambda c: f"<td>{c}</td>"), min_size=1, max_size=2).map(
        lambda cells: f"<tr>{''.join(cells)}</tr>"
    )
    looped = st.one_of(
        row,
        row.map(lambda r: f"{{{{#each @root.l}}}}{r}{{{{/each}}}}"),
        st.tuples(row, row).map(lambda p: f"{{{{#if t}}}}{p[0]}{{{{else}}}}{p[1]}{{{{/if}}}}"),
    )
    return st.lists(looped, min_size=1, max_size=3).map("".join)


def element(inner: "st.SearchStrategy[str]") -> "st.SearchStrategy[str]":
    return st.one_of(
        st.tuples(st.sampled_from(["div", "span", "b", "center"]), attributes, inner).map(
            lambda p: f"<{p[0]}{p[1]}>{p[2]}</{p[0]}>"
        ),
        rows(inner).map(lambda r: f"<table>{r}</table>"),
        inner.map(lambda p: f"<ul>{{{{#each @root.l}}}}<li>{{{{n}}}}{p}</li>{{{{/each}}}}</ul>"),
    )


links = st.just('<a href="{{@root.u}}">{{a}}</a>')
inline = st.lists(st.one_of(words, values, links), max_size=3).map("".join)
documents = st.recursive(
    inline,
    lambda inner: st.lists(st.one_of(inner, element(inner), block(inner)), min_size=1, max_size=3).map(
        "".join
    ),
    max_leaves=8,
)


def normal(html: str) -> str:
    """The same markup, as the sanitiser writes it."""
    return sanitise(html)


@given(document=documents)
@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_compiled_and_rendered_is_rendered_and_sanitised(rendering: Rendering, document: str) -> None:
    """Whatever the tools do to the markup, they do the same with and without the expressions in it."""
    compiled = compile_html(document)
    done = rendering.job(compiled_content(compiled, "en"), VALUES)
    assert isinstance(done, Rendered), done
    first = normal(body_of(type(compiled)(direction="ltr", subject=None, html=done.html, text=None)))

    plain = rendering.html(document, VALUES)
    second = normal(finish(inline_styles(plain)).body)

    assert first == second


pieces = st.sampled_from(
    [*"{}#/!&>^~\"'[]()|=@. ab<-\\", "{{", "}}", "if ", "each ", "else", "<td>", "<!--", "-->", "<p "]
)


@given(source=st.lists(pieces, max_size=40).map("".join))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_source_is_compiled_or_refused(rendering: Rendering, source: str) -> None:
    """Nonsense gets an answer; what is compiled holds no token and no script."""
    rendering.parse(source)
    try:
        compiled = compile_html(source)
    except CompileError:
        pass
    else:
        assert "tk0n" not in (compiled.html or "") + (compiled.text or "")
        done = rendering.job(compiled_content(compiled, "en"), VALUES)
        assert isinstance(done, (Rendered, RenderFailed))
    assert rendering.text("{{a}}", {"a": "alive"}) == "alive"


hostile = st.text(alphabet=st.sampled_from(list("<>\"'`=&/ ;:()javascript\x00\n")), max_size=40)


@given(value=hostile)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_value_breaks_out_of_its_place(rendering: Rendering, value: str) -> None:
    """The elements of the mail are those of the template, whatever a variable holds."""
    compiled = compile_html('<p title="{{v}}" class="a {{v}}">{{v}}</p>{{#each l}}<b>{{this}}</b>{{/each}}')

    done = rendering.job(compiled_content(compiled, "en"), {"v": value, "l": [value]})

    assert isinstance(done, Rendered)
    html = done.html or ""
    body = html[html.index("<body") :]
    assert body.count("<") == body.count(">")
    assert body.count("<p ") == 1
    assert body.count("<b>") == 1
    assert body.count("<") == 9
