"""Pages of the console: server time of each on the data of `tidings demo`, one after the other, beside a request that does nothing.

One process serves and works, as `tidings up` does; times are those of a client on the same machine, so the way through loopback
is in them. `python -m bench.console month` takes the month in the place of a day.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import httpx2
from tests.support.console_pages import find_pages, signed_in
from tests.support.running import TIDINGS, RunningTidings

#: What every page should stay below, at the 95th of a hundred, in milliseconds.
AIM: Final = 50.0
_TIMES: Final = 40
_FIRST: Final = 3
#: Seconds that a month may take.
_PATIENCE: Final = 300.0


def measure(size: str = "small") -> dict[str, float]:
    """The slowest and the middle page, as shares of the aim, and as multiples of a request that does nothing."""
    found = pages(size)
    floor = found.pop("/healthz")[0]
    slowest = max(p95 for _, p95 in found.values())
    middle = statistics.median(p50 for p50, _ in found.values())
    return {
        "console_pages": len(found),
        "console_page_p50_ms": middle,
        "console_slowest_p95_ms": slowest,
        "console_slowest_p95_by_aim": slowest / AIM,
        "console_page_p50_by_nothing": middle / floor,
        "console_pages_over_aim": sum(p95 > AIM for _, p95 in found.values()),
    }


def pages(size: str) -> dict[str, tuple[float, float]]:
    """Of each page half and 95 of a hundred, in milliseconds."""
    with tempfile.TemporaryDirectory(prefix="tidings-bench-", ignore_cleanup_errors=True) as folder:
        place = Path(folder) / "data"
        Path(folder).chmod(0o711)
        with RunningTidings(place) as running:
            filling = [*TIDINGS, "demo", "--size", size, "--data-dir", str(place)]
            filled = subprocess.run(filling, capture_output=True, text=True, timeout=_PATIENCE, check=False)
            if filled.returncode:
                raise SystemExit(filled.stderr)
            with signed_in(running.data_dir) as client:
                known, _ = find_pages(client)
                return {path: _timed(client, path) for path in ("/healthz", *known.values())}


def _timed(client: httpx2.Client, path: str) -> tuple[float, float]:
    taken = []
    for turn in range(_TIMES + _FIRST):
        began = time.perf_counter()
        client.get(path, follow_redirects=True).raise_for_status()
        if turn >= _FIRST:
            taken.append((time.perf_counter() - began) * 1000)
    taken.sort()
    return statistics.median(taken), taken[int(len(taken) * 0.95)]


def main() -> None:
    """Print a line for each page, the slowest first."""
    found = pages(sys.argv[1] if len(sys.argv) > 1 else "small")
    floor = found["/healthz"][0]
    print(f"{'page':64} {'p50 ms':>8} {'p95 ms':>8} {'of 50 ms':>9} {'p50 by /healthz':>16}")
    for path, (p50, p95) in sorted(found.items(), key=lambda one: -one[1][1]):
        print(f"{path[:64]:64} {p50:8.1f} {p95:8.1f} {p95 / AIM:9.2f} {p50 / floor:16.1f}")


if __name__ == "__main__":
    main()
