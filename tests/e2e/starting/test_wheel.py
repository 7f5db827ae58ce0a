"""The wheels, installed into an empty environment, send a mail."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from tools.distributions import build

from tests.support.running import RunningTidings, clean_environment

ROOT = Path(__file__).parents[3]
PATIENCE = 420
#: The Python that runs the tests, and those that `make test-pythons` finds beside it.
PYTHONS = [sys.executable, *filter(None, os.environ.get("TIDINGS_TEST_PYTHONS", "").split(":"))]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("dist")
    build(into)
    return into


def _committed(folder: str) -> set[str]:
    """What a clone has there, without what is no part of a package."""
    listed = subprocess.run(
        ["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    return {name.removeprefix(f"{folder}/") for name in listed if not name.endswith(".gitignore")}


def test_nothing_is_left_out(wheels: Path) -> None:
    for pattern, folder in (("tidings_platform-*.whl", "src"), ("tidings_client-*.whl", "client/src")):
        (wheel,) = wheels.glob(pattern)
        assert _committed(folder) - set(zipfile.ZipFile(wheel).namelist()) == set()
    (platform,) = wheels.glob("tidings_platform-*.whl")
    assert "tidings/notify/render/assets/handlebars.min.js" in zipfile.ZipFile(platform).namelist()


def test_the_source_archive_builds_without_the_network(wheels: Path) -> None:
    (archive,) = wheels.glob("tidings_platform-*.tar.gz")
    names = {name.partition("/")[2] for name in tarfile.open(archive).getnames()}
    assert {"setup.py", "pyproject.toml", "src/tidings/notify/render/assets/handlebars.min.js"} <= names


@pytest.mark.parametrize("python", PYTHONS, ids=[Path(python).parts[-3] for python in PYTHONS])
def test_an_empty_environment_sends_a_mail(wheels: Path, data_dir: Path, tmp_path: Path, python: str) -> None:
    place = tmp_path / "empty"
    subprocess.run([python, "-m", "venv", "--without-pip", str(place)], check=True)
    platform, client = (str(next(wheels.glob(f"tidings_{name}-*.whl"))) for name in ("platform", "client"))
    installed = subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(place / "bin" / "python"), "install", "--quiet", "--no-compile",
         "--constraint", str(ROOT / "constraints.txt"), client, f"{platform}[embedded]"],
        cwd="/", capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert installed.returncode == 0, installed.stderr[-2000:]
    program = str(place / "bin" / "tidings")
    with RunningTidings(data_dir, program=(program,)):
        sent = subprocess.run(
            [program, "send", "laila@example.test", "--template", "otp", "--var", "code=042424",
             "--channel", "email", "--wait", "--data-dir", str(data_dir)],
            cwd="/", capture_output=True, text=True, timeout=60, env=clean_environment(), check=False,
        )  # fmt: skip
    assert sent.returncode == 0, sent.stdout + sent.stderr
    assert "Delivered" in sent.stdout
