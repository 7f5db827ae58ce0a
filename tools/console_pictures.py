"""Photographs the console for docs/: an installation lives through a month, and Chromium looks at its pages.

`python -m tools.console_pictures DATA_DIR` looks at one that runs already.
"""

import asyncio
import base64
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from tools.chromium import Page, chromium, find_chromium
from tools.small_png import small_png

PICTURES: Final = Path(__file__).parents[1] / "docs" / "images" / "console"
_TIDINGS: Final = (sys.executable, "-m", "tidings")


class _Shot(NamedTuple):
    """One picture; `first`: the link on that page which leads to the one that is photographed."""

    path: str
    height: int = 860
    dark: bool = False
    is_phone: bool = False
    language: str = "en"
    first: str | None = None


_FAILED: Final = "/console/notifications?status=failed"
_ONE: Final = "tr[data-row] td:first-child a"
_PAGES: Final = {
    "overview": _Shot("/console?span=month", 1180),
    "batches": _Shot("/console/batches", 760),
    "vendors": _Shot("/console/vendors", dark=True),
    "notification": _Shot(_FAILED, 1100, first=_ONE),
    "notifications-dark": _Shot("/console/notifications", dark=True),
    "people": _Shot("/console/people", first=_ONE),
    "templates": _Shot("/console/templates"),
    "editor": _Shot("/console/templates/autumn_offer/email/versions/1.1.0", 1100),
    "ladder": _Shot("/console/policies", 1000, first="td a[href*=policy_]"),
    "webhooks": _Shot("/console/webhooks", 760),
    "alerts": _Shot("/console/alerts", 760),
    "workbench": _Shot("/console/workbench", 1000),
    "suggestions": _Shot("/console/ai-inbox", 760),
    "spend": _Shot("/console/spend"),
    "overview-ar": _Shot("/console?span=month", 1000, language="ar"),
    "notification-fa": _Shot(_FAILED, 1000, language="fa-AF", first=_ONE),
    "workbench-ar-dark": _Shot("/console/workbench", 1000, dark=True, language="ar"),
    "overview-phone": _Shot("/console?span=month", 844, is_phone=True),
    "notification-phone-dark": _Shot(_FAILED, 844, dark=True, is_phone=True, first=_ONE),
    "alerts-phone-ar": _Shot("/console/alerts", 844, is_phone=True, language="ar"),
    "workbench-phone": _Shot("/console/workbench", 844, is_phone=True),
}
#: A month takes a minute or two on a quiet machine.
_PATIENCE: Final = 900.0


def main() -> None:
    """All of them."""
    program = find_chromium()
    if program is None:
        raise SystemExit("install the package chromium")
    if len(sys.argv) > 1:
        asyncio.run(_photograph(program, _link(Path(sys.argv[1]))))
        return
    with _lived_in() as data_dir:
        asyncio.run(_photograph(program, _link(data_dir)))


@contextmanager
def _lived_in() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tidings-pictures-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)
        data_dir, said = Path(folder) / "data", Path(folder) / "said"
        with said.open("wb") as output:
            command = [*_TIDINGS, "up", "--demo", "--port", "0", "--data-dir", str(data_dir)]
            running = subprocess.Popen(command, stdout=output, stderr=output)
        try:
            end = time.monotonic() + _PATIENCE
            while "Ctrl-C stops" not in said.read_text():
                if running.poll() is not None or time.monotonic() > end:
                    raise SystemExit(said.read_text())
                time.sleep(1)
            yield data_dir
        finally:
            running.terminate()
            running.wait(60)


def _link(data_dir: Path) -> str:
    """Opens the console once."""
    command = [*_TIDINGS, "operator", "link", "--json", "--data-dir", str(data_dir)]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    link: str = json.loads(made.stdout)["console_url"]
    return link


async def _photograph(program: str, link: str) -> None:
    base = link[: link.index("/console/")]
    PICTURES.mkdir(parents=True, exist_ok=True)
    async with chromium(program) as page:
        await page.call("Page.enable", {})
        await page.call("Network.enable", {})
        await _open(page, link, _Shot("", 800))
        await page.evaluate("document.querySelector('main form').requestSubmit()")
        await asyncio.sleep(2)
        for name, shot in _PAGES.items():
            await _open(page, f"{base}{shot.path}", shot)
            if shot.first is not None:
                onward = await page.evaluate(f"document.querySelector({json.dumps(shot.first)})?.href ?? ''")
                if not onward:
                    raise SystemExit(f"{shot.path} has nothing to lead on to for {name}")
                await _open(page, onward, shot)
            answer = await page.call("Page.captureScreenshot", {"format": "png"})
            (PICTURES / f"{name}.png").write_bytes(small_png(base64.b64decode(answer["data"])))
            sys.stdout.write(f"wrote {PICTURES / name}.png\n")


async def _open(page: Page, url: str, shot: _Shot) -> None:
    size = {"width": 390 if shot.is_phone else 1280, "height": shot.height, "deviceScaleFactor": 1}
    await page.call("Emulation.setDeviceMetricsOverride", {**size, "mobile": shot.is_phone})
    await page.call("Network.setExtraHTTPHeaders", {"headers": {"Accept-Language": shot.language}})
    scheme = {"name": "prefers-color-scheme", "value": "dark" if shot.dark else "light"}
    await page.call("Emulation.setEmulatedMedia", {"features": [scheme]})
    await page.call("Page.navigate", {"url": url})
    await asyncio.sleep(2)


if __name__ == "__main__":
    main()
