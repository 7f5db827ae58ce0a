"""`tidings suppressions` and `tidings recipients import` at the keyboard of a running Tidings."""

import csv
from pathlib import Path

import pytest

from tests.e2e.commands.conftest import Operator

pytestmark = pytest.mark.xdist_group("commands")


def test_a_list_is_taken_in_counted_and_taken_out(operator: Operator, tmp_path: Path) -> None:
    """A dry run first, then the list itself, then the same again; what comes out can go in."""
    listed = tmp_path / "bounces.csv"
    people = "".join(f"5.1.1,unknown,p{n}@example.test,1600000000\n" for n in range(3000))
    listed.write_text("status,reason,email,created\n" + people + "5.1.1,unknown,nobody,1600000000\n")
    report, out = tmp_path / "report.csv", tmp_path / "out.csv"

    tried = operator.gets("suppressions", "import", str(listed), "--dry-run", "--allow-refused")
    done = operator.types("suppressions", "import", str(listed), "--report", str(report))
    said = done.stdout
    again = operator.gets("suppressions", "import", str(listed), "--no-events", "--allow-refused")
    stats = operator.gets("suppressions", "stats")
    operator.reads("suppressions", "export", str(out), "--reveal")
    back = operator.gets("suppressions", "import", str(out), "--dry-run")

    assert (tried["added"], tried["refused"], tried["dry_run"]) == (3000, 1, True)
    # A script can tell that a line was left out.
    assert (done.returncode, "1 of 3,002 lines were refused" in done.stderr) == (3, True)
    assert "3,000 added, 0 changed, 0 unchanged, 1 refused" in said
    assert "line 3002, email: error: must be an e-mail address" in said
    assert "nobody" not in said
    assert list(csv.reader(report.open()))[1][:3] == ["3002", "email", "bad_address"]
    assert (again["added"], again["unchanged"]) == (0, 3000)
    assert stats["by_channel"]["email"]["by_reason"]["hard_bounce"] == 3000
    assert (back["added"], back["unchanged"], back["refused"]) == (0, 3000, 0)


def test_recipients_come_from_a_file(operator: Operator, tmp_path: Path) -> None:
    listed = tmp_path / "people.csv"
    listed.write_text(
        "identity_type,identity_id,display_name,locale,email,tags\n"
        "guest,imp-1,Laila,fa-AF,laila@imported.test,vip|autumn\nguest,imp-2,Omar,ps-AF,omar@imported.test,\n"
    )

    first = operator.gets("recipients", "import", str(listed))
    again = operator.gets("recipients", "import", str(listed))

    assert (first["added"], first["refused"]) == (2, 0)
    assert (again["added"], again["unchanged"]) == (0, 2)


def test_what_is_no_list_is_said_in_one_line(operator: Operator, tmp_path: Path) -> None:
    strange = tmp_path / "strange.csv"
    strange.write_text("a,b\n1,2\n")

    said = operator.is_refused("suppressions", "import", str(strange))

    assert said.startswith("format is of no known format by its headings")
