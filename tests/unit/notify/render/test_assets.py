"""The code that runs in V8 is the one that the lock names, and the lock names nobody's address."""

import json
from pathlib import Path

from py_mini_racer import MiniRacer

import tidings.notify.render as package

ROOT = Path(__file__).parents[4]
ASSETS = Path(package.__path__[0]) / "assets"


def test_the_lock_holds_no_address() -> None:
    for name in ("package.json", "package-lock.json"):
        assert "://" not in (ROOT / name).read_text()


def test_the_fetched_handlebars_is_the_pinned_one() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text())
    racer = MiniRacer()
    racer.eval((ASSETS / "handlebars.min.js").read_text())

    assert racer.eval("Handlebars.VERSION") == lock["packages"]["node_modules/handlebars"]["version"]
    assert (ASSETS / "handlebars.LICENSE").exists()
    racer.close()


def test_third_party_code_is_not_committed() -> None:
    assert "assets/" in (Path(package.__path__[0]) / ".gitignore").read_text().splitlines()
