"""Whatever statements are made of, joining and splitting them gives the same statements."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tidings.operations.migrations.errors import UnreadableSqlError
from tidings.operations.migrations.statements import split

_TEXT = st.text(alphabet=st.sampled_from("ab;'\"$\\-/*()\n\r\t é\u00a0Ee_1"), max_size=20)
_TAG = st.from_regex(r"[A-Za-z_é][A-Za-z0-9_é]{0,5}", fullmatch=True) | st.just("")


@st.composite
def _dollar_quoted(draw: st.DrawFn) -> str:
    tag, body = f"${draw(_TAG)}$", draw(_TEXT)
    # A body that ends like the tag begins would close the quote early.
    return f"{tag}{body.replace('$', 'S')} $x {tag}"


@st.composite
def _comment(draw: st.DrawFn) -> str:
    inner = draw(_TEXT).replace("*", "+").replace("/", "|")
    return f"/*{inner}{draw(_comment()) if draw(st.booleans()) else ''}{inner}*/"


def _string(body: str) -> str:
    return "'" + body.replace("'", "''") + "'"


def _escape_string(bodies: list[str]) -> str:
    """In as many parts, each on a line of its own. It ends with an operator: a string on the next line would be one more."""
    parts = (body.replace("\\", "\\\\").replace("'", "\\'") for body in bodies)
    return "E" + " -- and\n".join(f"'{part}'" for part in parts) + " ||"


def _quoted_name(body: str) -> str:
    return '"' + body.replace('"', '""') + '"'


def _line_comment(body: str) -> str:
    return "--" + re.sub(r"[\n\r]", "", body) + "\n"


_PIECE = st.one_of(
    st.sampled_from(["SELECT", "1", "+", "a$b", "e", "U&''", "x.y", "$1", "- -", "CASE", "END", "BEGIN"]),
    _TEXT.map(_string),
    st.lists(_TEXT, min_size=1, max_size=3).map(_escape_string),
    _TEXT.map(_quoted_name),
    _TEXT.map(_line_comment),
    _dollar_quoted(),
    _comment(),
    st.lists(_TEXT.map(_string), max_size=3).map(lambda parts: f"({';'.join(parts)})"),
)
_STATEMENT = st.lists(_PIECE, max_size=6).map(lambda pieces: " ".join(["SELECT", *pieces, "done"]))


@given(st.lists(_STATEMENT, max_size=5), st.sampled_from([";", " ;\n", ";-- bye\n", ";/* ; */", ";;\n"]))
def test_joined_statements_come_apart_again(statements: list[str], end: str) -> None:
    """Nothing inside a statement cuts it, and nothing between statements is lost in one."""
    script = split("".join(f"{statement}{end}" for statement in statements))

    assert [statement.sql for statement in script.statements] == statements


@given(_TEXT)
def test_any_text_is_split_or_refused(text: str) -> None:
    """No text makes the splitter lose characters, hang, or fail in another way."""
    try:
        script = split(text)
    except UnreadableSqlError:
        return

    position = 0
    for statement in script.statements:
        assert statement.sql
        position = text.index(statement.sql, position) + len(statement.sql)
        assert text.count("\n", 0, text.index(statement.sql)) <= statement.line - 1
