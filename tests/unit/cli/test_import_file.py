"""What is said at the keyboard when a file was taken in."""

import pytest

from tidings.cli.import_file import exit_code, lines_of


def imported(**facts: object) -> dict[str, object]:
    """An import with a line that was refused and one that was taken with a warning."""
    problems = (
        {"line": 3, "column": "email", "code": "bad_address", "what": "is no address"},
        {"line": 5, "column": "created", "code": "bad_date", "what": "is no date", "severity": "warning"},
    )
    told: dict[str, object] = {
        "id": "imp_1",
        "kind": "suppressions",
        "status": "completed",
        "format": "sendgrid",
        "dry_run": False,
        "lines": 6,
        "bytes": 60,
        "added": 4,
        "changed": 0,
        "unchanged": 0,
        "refused": 1,
        "problems": 2,
        "warnings": 1,
        "first_problems": problems,
    }
    return told | facts


def test_warnings_are_told_apart_from_lines_that_were_refused() -> None:
    said = [line.plain for line in lines_of(imported(), None)]

    assert said[2] == "1 warnings: those lines count, without what is named"
    assert said[3:] == [
        "  line 3, email: error: is no address (bad_address)",
        "  line 5, created: warning: is no date (bad_date)",
    ]


def test_without_warnings_nothing_is_said_of_them() -> None:
    said = lines_of(imported(problems=0, warnings=0, refused=0, first_problems=()), None)

    assert not any("warning" in line.plain for line in said)


@pytest.mark.parametrize(("refused", "allowed", "code"), [(1, False, 3), (1, True, 0), (0, False, 0)])
def test_a_script_can_tell_that_lines_were_refused(
    capsys: pytest.CaptureFixture[str], refused: int, allowed: bool, code: int
) -> None:
    assert exit_code(imported(refused=refused), allow_refused=allowed) == code
    said = "tidings: 1 of 6 lines were refused (--allow-refused ends with 0 all the same)\n"
    assert capsys.readouterr().err == (said if code else "")
