"""A script is cut at the semicolons that end statements, and nowhere else."""

import pytest

from tidings.operations.migrations.errors import UnreadableSqlError
from tidings.operations.migrations.statements import split


def texts(sql: str) -> list[str]:
    return [statement.sql for statement in split(sql).statements]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT ';'",
        "SELECT 'it''s; fine'",
        r"SELECT E'a\'; b'",
        "SELECT E'a'\n  'b\\'; c'",
        "SELECT E'a' -- why\n  'b\\'; c'",
        r"SELECT 'C:\'",
        r"SELECT U&'\0041;'",
        'SELECT 1 AS "a;""b"',
        "SELECT $$;$$",
        "SELECT $a$ $b$ ; $$ $a$",
        "SELECT a$b$c FROM t",
        "SELECT /* ; /* nested; */ ; */ 1",
        "SELECT 1 -- one; two\n + 1",
        "CREATE RULE r AS ON INSERT TO t DO ALSO (DELETE FROM a; DELETE FROM b)",
        "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 1 END; END",
        "CREATE OR REPLACE PROCEDURE p() BEGIN ATOMIC DELETE FROM t; END",
        "CREATE FUNCTION begin_it(x int) RETURNS int LANGUAGE sql AS 'SELECT 1;'",
        "DO $do$ BEGIN PERFORM 1; END $do$",
        "SELECT 1 AS \u00a0x",
        "SELECT 'émigré; 東京'",
    ],
)
def test_a_semicolon_inside_something_ends_nothing(statement: str) -> None:
    """Quotes, comments, parentheses and bodies hold their semicolons."""
    assert texts(f"SELECT 0; {statement}; SELECT 2;") == ["SELECT 0", statement, "SELECT 2"]


def test_comments_and_line_numbers_are_kept() -> None:
    """Messages name lines, and directives are comments."""
    script = split("-- head\n\nSELECT 1;\n-- two\n;\n/* three */ SELECT -- four\n 2;\n-- five\n")

    first, second = script.statements
    assert (first.line, first.comments) == (3, ("-- head",))
    assert (second.line, second.comments, second.inner_comments) == (6, ("-- two",), ("-- four",))
    assert script.trailing_comments == ("-- five",)


def test_nothing_is_no_statement() -> None:
    """Blank text, comments and lone semicolons hold no statement."""
    assert texts(" ;; -- a\n /* b */ ;\n") == []


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT 1;\nSELECT 'a", "line 2: a string is never closed"),
        ("SELECT E'a\\'", "line 1: a string is never closed"),
        ('SELECT "a', "line 1: a quoted name is never closed"),
        ("SELECT $a$ $$", "line 1: the quote \\$a\\$ is never closed"),
        ("/* /* */", "line 1: a comment is never closed"),
        ("SELECT 1", "line 1: this statement does not end with a semicolon"),
        ("SELECT (1;", "line 1: this statement does not end with a semicolon"),
        ("\n\\connect postgres\n", "line 2: a backslash outside quotes"),
    ],
)
def test_text_that_breaks_off_is_refused(sql: str, message: str) -> None:
    """A file that was cut short must not be applied up to the cut."""
    with pytest.raises(UnreadableSqlError, match=message):
        split(sql)
