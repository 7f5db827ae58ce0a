"""The data dir is ours alone, private, and used by one process at a time."""

import json
import stat
from pathlib import Path

import pytest

from tidings.operations.embedded import DataDir, DataDirError


def test_a_new_folder_is_made_and_marked(tmp_path: Path) -> None:
    """Opening it again finds it."""
    folder = DataDir(tmp_path / "deep" / "data")

    folder.open()
    folder.close()

    DataDir(folder.path).open()
    assert json.loads((folder.path / "tidings.json").read_text())["product"] == "tidings"


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    """It names one of them, and writes nothing."""
    (tmp_path / "holiday.jpg").write_text("x")

    with pytest.raises(DataDirError, match=r"not Tidings' \(holiday.jpg"):
        DataDir(tmp_path).open()

    assert [entry.name for entry in tmp_path.iterdir()] == ["holiday.jpg"]


def test_what_serve_and_work_made_is_ours(tmp_path: Path) -> None:
    """They keep the master key, blobs and secrets in the same folder, and claim nothing."""
    for name in ("keys", "blobs", "secrets"):
        (tmp_path / name).mkdir()

    DataDir(tmp_path).open()

    assert (tmp_path / "tidings.json").exists()


def test_the_refusal_names_the_folder(tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "thesis.tex").write_text("x")

    with pytest.raises(
        DataDirError, match=rf"^{tmp_path} holds files that are not Tidings' \(thesis.tex, …\)"
    ):
        DataDir(tmp_path).open()


@pytest.mark.parametrize(
    ("marker", "complaint"),
    [
        ('{"product": "other", "format": 1}', "belongs to other"),
        ('{"product": "tidings", "format": 99}', "made by a newer Tidings"),
        ("not json", "is not readable"),
        ("[]", "is not readable"),
    ],
)
def test_a_marker_that_is_not_ours_is_refused(tmp_path: Path, marker: str, complaint: str) -> None:
    """Each with its own sentence."""
    (tmp_path / "tidings.json").write_text(marker)

    with pytest.raises(DataDirError, match=complaint):
        DataDir(tmp_path).open()


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    """Nor is anything below it."""
    (tmp_path / "file").write_text("x")

    with pytest.raises(DataDirError):
        DataDir(tmp_path / "file").open()
    with pytest.raises(DataDirError):
        DataDir(tmp_path / "file" / "below").open()


def test_only_one_at_a_time(tmp_path: Path) -> None:
    """The second is told who holds it; when the first lets go, it may."""
    first, second = DataDir(tmp_path / "data"), DataDir(tmp_path / "data")
    first.open()

    with pytest.raises(DataDirError, match="in use by another tidings"):
        second.open()
    assert second.holder() is not None

    first.close()
    assert second.holder() is None
    second.open()
    second.close()


def test_secrets_are_made_once_and_private(tmp_path: Path) -> None:
    """Mode 600, the same value ever after."""
    folder = DataDir(tmp_path / "data")
    folder.open()

    first = folder.secret("runtime_password")

    assert DataDir(folder.path).secret("runtime_password") == first
    assert folder.secret("owner_password") != first
    assert stat.S_IMODE((folder.path / "secrets.json").stat().st_mode) == 0o600
    folder.close()
