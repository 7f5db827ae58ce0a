"""Regular expressions mean the same on every Python that we say we run on, and let nothing hang on at the end."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, get_args

import msgspec
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st

import tidings
from tidings.kernel.http.openapi import published_pattern

SOURCE = Path(__file__).parents[2] / "src" / "tidings"
_POSSESSIVE_GROUP = re.compile(r"\)[*+?]\+|\(\?>")
_OF_RE = ("compile", "match", "search", "fullmatch", "sub", "split", "findall", "finditer")
#: What ends a line for one reader or another of what follows a value: a mail's header, a log, a form.
_HANGING_ON = ("\n", "\r", "\r\n", "\x00", "\x85", "\u2028", "\u2029")
#: The first that is found will do; nobody has to make it smaller.
_ONE_EXAMPLE = settings(
    database=None,
    derandomize=True,
    max_examples=1000,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


def _nodes(file: Path, *hints: str) -> Iterator[ast.AST]:
    """Of a file in which one of the hints stands: reading all others as Python takes seconds."""
    text = file.read_text()
    return ast.walk(ast.parse(text if any(hint in text for hint in hints) else ""))


def _texts(file: Path) -> Iterator[str]:
    for node in _nodes(file, "(?"):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "(?" in node.value:
            yield node.value


def test_no_group_is_possessive_or_atomic() -> None:
    """Python before 3.11.5 forgets what it has matched in one with choices inside; Debian 12 has 3.11.2."""
    found = {
        f"{file.relative_to(SOURCE)}: {text}"
        for file in SOURCE.rglob("*.py")
        for text in _texts(file)
        if _POSSESSIVE_GROUP.search(text)
    }

    assert found == set()


def _text_of(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
    return None


def _expressions(file: Path) -> Iterator[str]:
    for node in _nodes(file, "import re\n", "Meta("):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name("re"), attr=called), args=[first, *_]) if (
                called in _OF_RE and "MULTILINE" not in ast.unparse(node)
            ):
                given = [first]
            case ast.Call(func=ast.Name("Meta") | ast.Attribute(attr="Meta")):
                given = [keyword.value for keyword in node.keywords if keyword.arg == "pattern"]
            case _:
                continue
        yield from (text for one in given if (text := _text_of(one)) is not None)


def _ends_before_a_line_feed(expression: str) -> bool:
    # Escaped, or inside brackets, a dollar sign is a dollar sign.
    bare = re.sub(r"\[\^?\]?(?:\\.|[^\]\\])*\]", "[]", re.sub(r"\\[^\[\]]", "", expression))
    return "$" in bare


def test_no_expression_ends_with_a_dollar_sign() -> None:
    r"""In Python `$` also matches before a last line feed; `\Z` is the end. Only lines of a text end with `$`."""
    found = {
        f"{file.relative_to(SOURCE)}: {text}"
        for file in SOURCE.rglob("*.py")
        for text in _expressions(file)
        if _ends_before_a_line_feed(text)
    }

    assert found == set()


def _constrained(kind: Any) -> Iterator[Any]:
    """Every `Annotated[str, Meta(pattern=…)]` inside a type."""
    for meta in getattr(kind, "__metadata__", ()):
        if isinstance(meta, msgspec.Meta) and meta.pattern is not None:
            yield kind
    for part in get_args(kind):
        yield from _constrained(part)


def _fits(text: str, kind: Any) -> bool:
    try:
        msgspec.convert(text, kind)
    except msgspec.ValidationError:
        return False
    return True


def _subclasses(kind: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for below in kind.__subclasses__():
        yield below
        yield from _subclasses(below)


def _every_constrained_text() -> dict[str, Any]:
    for module in pkgutil.walk_packages(tidings.__path__, "tidings."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found: dict[str, Any] = {}
    for kind in _subclasses(msgspec.Struct):
        if kind.__module__.startswith("tidings."):
            for field in msgspec.structs.fields(kind):
                for constrained in _constrained(field.type):
                    found.setdefault(repr(constrained), constrained)
    return found


def test_no_text_of_a_given_form_may_have_a_line_feed_at_its_end() -> None:
    """`"acme\\n"` beside `"acme"`, a sender's name that no mail can carry: whatever a pattern allows ends with it."""
    texts = _every_constrained_text()
    assert len(texts) > 60

    taken: list[str] = []
    for constrained in texts.values():
        pattern = next(str(meta.pattern) for meta in constrained.__metadata__ if meta.pattern)
        good = find(
            st.from_regex(pattern, fullmatch=True),
            partial(_fits, kind=constrained),
            settings=_ONE_EXAMPLE,
        )
        taken += [f"{pattern} takes {tail!r}" for tail in _HANGING_ON if _fits(good + tail, constrained)]

    assert taken == []


def test_the_published_form_of_a_pattern_is_one_that_every_language_reads() -> None:
    assert published_pattern(r"^[a-z]+\Z") == "^[a-z]+$"
    assert published_pattern("^[a-z]+$") == "^[a-z]+$"
