"""A person at a real Chromium: opens addresses, presses keys, sees what is there."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tools.chromium import Page, chromium

#: Long enough for a slow and busy machine; nothing is asserted about it.
_PATIENCE = 30.0
_KEYS: dict[str, dict[str, Any]] = {
    "Tab": {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9},
    "Space": {"key": " ", "code": "Space", "windowsVirtualKeyCode": 32, "text": " "},
    "Enter": {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"},
}


class Browser:
    """One tab, and whoever sits before it."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def open(self, url: str, *, width: int = 360, dark: bool = False) -> None:
        """Go to an address, in a window of this width."""
        await self._call(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 640, "deviceScaleFactor": 1, "mobile": True},
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self._call("Emulation.setEmulatedMedia", {"features": [scheme]})
        await self.see("true", after=lambda: self._call("Page.navigate", {"url": url}))

    async def press(self, key: str) -> None:
        """One key, down and up."""
        given = _KEYS[key]
        await self._call("Input.dispatchKeyEvent", {"type": "keyDown", **given})
        await self._call("Input.dispatchKeyEvent", {"type": "keyUp", **given})

    async def submit(self, expression: str) -> Any:
        """Press Enter on what has the focus, and wait for the page that it leads to."""
        return await self.see(expression, after=lambda: self.press("Enter"))

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

    async def _call(self, method: str, given: dict[str, Any]) -> dict[str, Any]:
        return await self.page._call(method, given)


@asynccontextmanager
async def browser(program: str) -> AsyncIterator[Browser]:
    """A Chromium of its own."""
    async with chromium(program) as page:
        yield Browser(page)
