"""Builds what is published: wheel and source archive of the client and of the server, from a copy of the sources."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_LEAVE = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")


def main(arguments: list[str]) -> int:
    """Build into the folder that is named."""
    (folder,) = arguments
    build(Path(folder).absolute())
    return 0


def build(into: Path) -> None:
    """Build both, in a copy: what an earlier build left beside the sources would end up in the wheel."""
    with tempfile.TemporaryDirectory() as place:
        sources = Path(place) / "sources"
        sources.mkdir()
        for name in ("src", "client"):
            shutil.copytree(ROOT / name, sources / name, ignore=_LEAVE)
        for name in (
            "pyproject.toml",
            "setup.py",
            "MANIFEST.in",
            "README.md",
            "LICENSE",
            "CHANGELOG.md",
            "constraints.txt",
        ):
            shutil.copy2(ROOT / name, sources / name)
        for project in (sources / "client", sources):
            command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(into), str(project)]
            done = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
            )
            if done.returncode != 0:
                raise SystemExit(done.stdout)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
