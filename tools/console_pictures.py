"""Photographs the console for docs/: an installation lives through a month, and Chromium looks at three of its pages.

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
from typing import Final

from tools.chromium import Page, chromium, find_chromium
from tools.small_png import small_png

PICTURES: Final = Path(__file__).parents[1] / "docs" / "images" / "console"
_TIDINGS: Final = (sys.executable, "-m", "tidings")
_WIDTH: Final = 1280
#: Name → where, how high, and whether it is dark.
_PAGES: Final = {
    "overview": ("/console?span=month", 1180, False),
    "batches": ("/console/batches", 760, False),
    "vendors": ("/console/vendors", 860, True),
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
        await _open(page, link, 800, dark=False)
        await page.evaluate("document.querySelector('main form').requestSubmit()")
        await asyncio.sleep(2)
        for name, (path, height, dark) in _PAGES.items():
            await _open(page, f"{base}{path}", height, dark=dark)
            answer = await page.call("Page.captureScreenshot", {"format": "png"})
            (PICTURES / f"{name}.png").write_bytes(small_png(base64.b64decode(answer["data"])))
            sys.stdout.write(f"wrote {PICTURES / name}.png\n")


async def _open(page: Page, url: str, height: int, *, dark: bool) -> None:
    await page.call(
        "Emulation.setDeviceMetricsOverride",
        {"width": _WIDTH, "height": height, "deviceScaleFactor": 1, "mobile": False},
    )
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    await page.call("Emulation.setEmulatedMedia", {"features": [scheme]})
    await page.call("Page.navigate", {"url": url})
    await asyncio.sleep(2)


if __name__ == "__main__":
    main()
