"""What somebody does at the console in a browser, for the tests that watch them.

`TIDINGS_TEST_KEEP_PICTURES=1` writes what is seen to `docs/images/console`.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tools.small_png import small_png

from tests.support.browser import Browser
from tests.support.running import RunningTidings, run_tidings

PICTURES = Path(__file__).parents[2] / "docs" / "images" / "console"
AXE = Path(__file__).parent / "npm_axe" / "node_modules" / "axe-core" / "axe.min.js"
needs_axe = pytest.mark.skipif(
    not AXE.exists(),
    reason="NO AXE HERE: nobody asks it about the console; python tools/fetch_assets.py --dev",
)


async def type_(at: Browser, text: str) -> None:
    await at.page.call("Input.insertText", {"text": text})


async def to(at: Browser, selector: str) -> None:
    """Press Tab until an element has the focus: what no Tab reaches, no keyboard does."""
    for _ in range(60):
        if await at.see(f"document.activeElement?.matches({json.dumps(selector)}) ?? false"):
            return
        await at.press("Tab")
    raise AssertionError(f"no Tab reaches {selector}")


async def speak(at: Browser, language: str) -> None:
    await at.page.call("Network.enable", {})
    await at.page.call("Network.setExtraHTTPHeaders", {"headers": {"Accept-Language": language}})


async def keep(at: Browser, name: str) -> None:
    if os.environ.get("TIDINGS_TEST_KEEP_PICTURES"):
        PICTURES.mkdir(parents=True, exist_ok=True)
        (PICTURES / f"{name}.png").write_bytes(small_png(await at.picture()))


async def serious(at: Browser) -> Any:
    """What axe finds serious in this page; it is told to the page from outside, past the policy."""
    await at.page.evaluate(f"{AXE.read_text()};true")
    return await at.page.evaluate(
        "axe.run({ resultTypes: ['violations'] }).then((found) => found.violations"
        ".filter(({ impact }) => ['serious', 'critical'].includes(impact))"
        ".map(({ id, nodes }) => [id, nodes[0].html]))"
    )


async def sign_in(at: Browser, up: RunningTidings) -> None:
    """Open the console as the demo's operator, by a link of its own."""
    made = run_tidings("operator", "link", "--json", "--data-dir", str(up.data_dir))
    await at.open(json.loads(made.stdout)["console_url"], width=1280, height=800, mobile=False)
    await to(at, "main button")
    await at.submit("document.querySelector('h1').textContent")
