"""A real Chromium that shows pages and is asked about them, over its DevTools protocol."""

import asyncio
import base64
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Literal

import aiohttp

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
_FLAGS: Final = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--font-render-hinting=none",
    "--remote-debugging-port=0",
)
_START_SECONDS: Final = 30.0
_CALL_SECONDS: Final = 30.0


def find_chromium() -> str | None:
    """Where it is; None where this machine has none."""
    return next((path for name in _NAMES if (path := shutil.which(name)) is not None), None)


class Page:
    """A tab."""

    def __init__(
        self, socket: aiohttp.ClientWebSocketResponse, session: aiohttp.ClientSession, port: int
    ) -> None:
        self._socket = socket
        self._session = session
        self._port = port
        self._number = 0

    async def another(self) -> "Page":
        """A second tab of the same browser, which closes with it."""
        async with self._session.put(f"http://127.0.0.1:{self._port}/json/new?about:blank") as answer:
            tab = await answer.json()
        socket = await self._session.ws_connect(tab["webSocketDebuggerUrl"], max_msg_size=0)
        return Page(socket, self._session, self._port)

    async def show(self, html: str, *, width: int, dark: bool = False) -> None:
        """Show a document in a window of this width, as high as a telephone."""
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 640, "deviceScaleFactor": 1, "mobile": False},
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.call("Emulation.setEmulatedMedia", {"features": [scheme]})
        frame = (await self.call("Page.getFrameTree", {}))["frameTree"]["frame"]["id"]
        await self.call("Page.setDocumentContent", {"frameId": frame, "html": html})
        await self.evaluate(
            "document.fonts.ready.then(() => Promise.all([...document.images].map(i => i.decode())))"
        )

    async def evaluate(self, expression: str) -> Any:
        """What an expression says in the page."""
        answer = await self.call(
            "Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True}
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return answer["result"].get("value")

    async def picture(self, *, scale: float = 1.0, image: Literal["png", "jpeg", "webp"] = "png") -> bytes:
        """The whole document, not only what fits into the window."""
        width, height = await self.evaluate(
            "[innerWidth, Math.ceil(document.body.getBoundingClientRect().bottom)]"
        )
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}
        answer = await self.call(
            "Page.captureScreenshot", {"format": image, "clip": clip, "captureBeyondViewport": True}
        )
        return base64.b64decode(answer["data"])

    async def call(self, method: str, given: dict[str, Any]) -> dict[str, Any]:
        """One call of the DevTools protocol."""
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": given})
        async with asyncio.timeout(_CALL_SECONDS):
            while True:
                answer = await self._socket.receive_json()
                if answer.get("id") == self._number:
                    break
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result


@asynccontextmanager
async def chromium(program: str) -> AsyncIterator[Page]:
    """One Chromium with one tab, and a profile that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="tidings-chromium-", ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            program,
            *_FLAGS,
            f"--user-data-dir={profile}",
            "about:blank",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            port = await _port(Path(profile), process)
            async with aiohttp.ClientSession() as session:
                async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                    tab = next(each for each in await answer.json() if each["type"] == "page")
                async with session.ws_connect(tab["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                    yield Page(socket, session, port)
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


async def _port(profile: Path, process: asyncio.subprocess.Process) -> int:
    """Chromium picks a free one and writes it into its profile."""
    file = profile / "DevToolsActivePort"
    async with asyncio.timeout(_START_SECONDS):
        while not (file.exists() and "\n" in file.read_text()):
            if process.returncode is not None:
                raise RuntimeError(f"Chromium ended at once, with {process.returncode}")
            await asyncio.sleep(0.02)
    return int(file.read_text().splitlines()[0])
