"""A person at a real Chromium: opens addresses, presses keys, sees what is there."""

import asyncio
import base64
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from tools.chromium import Page, chromium, find_chromium

#: Long enough for a slow and busy machine; nothing is asserted about it.
_PATIENCE = 30.0
_INSTALL_SECONDS: Final = 300
_KEYS: dict[str, dict[str, Any]] = {
    "Tab": {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9},
    "Space": {"key": " ", "code": "Space", "windowsVirtualKeyCode": 32, "text": " "},
    "Enter": {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"},
    "Escape": {"key": "Escape", "code": "Escape", "windowsVirtualKeyCode": 27},
    "ArrowDown": {"key": "ArrowDown", "code": "ArrowDown", "windowsVirtualKeyCode": 40},
    "ArrowUp": {"key": "ArrowUp", "code": "ArrowUp", "windowsVirtualKeyCode": 38},
    "ArrowLeft": {"key": "ArrowLeft", "code": "ArrowLeft", "windowsVirtualKeyCode": 37},
    "ArrowRight": {"key": "ArrowRight", "code": "ArrowRight", "windowsVirtualKeyCode": 39},
    "Home": {"key": "Home", "code": "Home", "windowsVirtualKeyCode": 36},
    "End": {"key": "End", "code": "End", "windowsVirtualKeyCode": 35},
}
_SHIFT: Final = 8
#: Keeps what went wrong in a page where a test finds it.
_FAULTS: Final = """
window.faults = [];
addEventListener("error", (event) => faults.push(String(event.message)));
addEventListener("unhandledrejection", (event) => faults.push(String(event.reason)));
addEventListener("securitypolicyviolation", (event) => faults.push(`policy: ${event.violatedDirective} ${event.blockedURI}`));
"""


def chromium_or_skip(what: str) -> str:
    """Where Chromium is; installed where we may. `what` is not looked at where there is none."""
    program = find_chromium() or _installed()
    if program is None:
        pytest.skip(f"NO CHROMIUM HERE: nobody looks at {what}; install the package chromium")
    return program


def _installed() -> str | None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return None
    install = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", "chromium"]
    with (Path(tempfile.gettempdir()) / "tidings-chromium.lock").open("w") as lock:
        # Another worker may be at it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if find_chromium() is None and not _works(install) and _works(["apt-get", "update", "--quiet"]):
            _works(install)
    return find_chromium()


def _works(command: list[str]) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, check=False, timeout=_INSTALL_SECONDS
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


class Browser:
    """One tab, and whoever sits before it."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def tab(self) -> "Browser":
        """Another tab of theirs."""
        return Browser(await self.page.another())

    async def watch_for_faults(self) -> None:
        """Keep errors of the pages that are opened from now on, for `faults`."""
        await self._call("Page.enable", {})
        await self._call("Page.addScriptToEvaluateOnNewDocument", {"source": _FAULTS})

    async def faults(self) -> list[str]:
        """What went wrong in this page: errors of scripts, and what its policy has kept out."""
        found: list[str] = await self.page.evaluate("window.faults ?? []")
        return found

    async def open(
        self, url: str, *, width: int = 360, height: int = 640, dark: bool = False, mobile: bool = True
    ) -> None:
        """Go to an address, in a window of this size."""
        await self._call(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile},
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self._call("Emulation.setEmulatedMedia", {"features": [scheme]})
        # As if every tab were the one in front: those behind get no focus, and slow timers.
        await self._call("Emulation.setFocusEmulationEnabled", {"enabled": True})
        await self.see("true", after=lambda: self._call("Page.navigate", {"url": url}))

    async def press(self, key: str, *, shift: bool = False) -> None:
        """One key, down and up: one of those with a name, or a letter."""
        letter = {
            "key": key,
            "code": f"Key{key.upper()}",
            "windowsVirtualKeyCode": ord(key[0].upper()),
            "text": key,
        }
        given = {**_KEYS.get(key, letter), "modifiers": _SHIFT if shift else 0}
        await self._call("Input.dispatchKeyEvent", {"type": "keyDown", **given})
        await self._call("Input.dispatchKeyEvent", {"type": "keyUp", **given})

    async def click(self, expression: str) -> None:
        """Click with the mouse in the middle of an element, once it is there and in sight."""
        place = (
            f"(() => {{ const found = {expression}; if (!found?.checkVisibility()) return null;"
            " found.scrollIntoView({ block: 'nearest' });"
            " const { left, top, width, height } = found.getBoundingClientRect();"
            " return [left + width / 2, top + height / 2] })()"
        )
        x, y = await self.until(place)
        await self._call("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})
        for kind in ("mousePressed", "mouseReleased"):
            given = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}
            await self._call("Input.dispatchMouseEvent", given)

    async def offline(self, *, is_on: bool) -> None:
        """Take the network away, or give it back."""
        await self._call("Network.enable", {})
        given = {"offline": is_on, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        await self._call("Network.emulateNetworkConditions", given)

    async def submit(self, expression: str) -> Any:
        """Press Enter on what has the focus, and wait for the page that it leads to."""
        return await self.see(expression, after=lambda: self.press("Enter"))

    async def until(self, expression: str) -> Any:
        """What an expression says, once that is anything but nothing."""
        last: Any = None
        try:
            async with asyncio.timeout(_PATIENCE):
                while True:
                    if last := await self.see(expression):
                        return last
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"still {last!r}: {expression}") from None

    async def see(self, expression: str, *, after: Any = None) -> Any:
        """What an expression says in the page, once there is one; `after` leads to another page first."""
        if after is not None:
            await self.page.evaluate("window.before = true")
            await after()
        async with asyncio.timeout(_PATIENCE):
            while True:
                try:
                    ready = "document.readyState === 'complete' && !window.before"
                    if await self.page.evaluate(ready if after is not None else "true"):
                        return await self.page.evaluate(expression)
                except RuntimeError:
                    # Between two pages there is nothing to ask.
                    pass
                await asyncio.sleep(0.02)

    async def names(self, role: str) -> list[str]:
        """What a screen reader calls everything of this role."""
        tree = await self._call("Accessibility.getFullAXTree", {})
        return [
            node.get("name", {}).get("value", "")
            for node in tree["nodes"]
            if not node.get("ignored") and node.get("role", {}).get("value") == role
        ]

    async def picture(self) -> bytes:
        """What the window shows."""
        answer = await self._call("Page.captureScreenshot", {"format": "png"})
        return base64.b64decode(answer["data"])

    async def _call(self, method: str, given: dict[str, Any]) -> dict[str, Any]:
        return await self.page.call(method, given)


@asynccontextmanager
async def browser(program: str) -> AsyncIterator[Browser]:
    """A Chromium of its own."""
    async with chromium(program) as page:
        yield Browser(page)
