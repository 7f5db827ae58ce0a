"""`make bench-peers`: Tidings in turn with what a user would pick instead, under the same load, on the same Postgres.

The yardstick is not part of Tidings: `TIDINGS_PEERS` names its folder (`../shared/peers` unless it is set), and its own
`setup.sh` installs what it needs. A machine's speed wanders within the hour, so the two are run in turns, and all rounds are
shown.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

_ROOT: Final = Path(__file__).parent.parent
_PYTHON: Final = Path("/tmp/peers-venv/bin/python")  # where the yardstick's set-up puts it
#: Figure → the yardstick's name for it.
_FIGURES: Final = {
    "accepts/s": "accept_s",
    "end to end/s": "e2e_rate",
    "light p50 ms": "lat_p50_ms",
    "light p99 ms": "lat_p99_ms",
    "MB": "peak_rss_mb",
}


def main() -> int:
    """Run the rounds, show each, and the ratio of the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", default="bullmq-1", help="which of the yardstick's peers")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tenants", type=int, default=10)
    parser.add_argument("--count", type=int, default=4000, help="notifications of a round")
    parser.add_argument("--kill", action="store_true", help="kill -9 the worker and the API under load too")
    asked = parser.parse_args()
    folder = Path(os.environ.get("TIDINGS_PEERS", _ROOT.parent / "shared" / "peers")).resolve()
    if not (folder / "run.py").exists() or not _PYTHON.exists():
        sys.stderr.write(
            f"the yardstick is not at hand: {folder} has to hold it (or TIDINGS_PEERS name it), and its setup.sh to have run\n"
        )
        return 1
    count = str(asked.count)
    peers: list[Mapping[str, Any]] = []
    ours: list[Mapping[str, Any]] = []
    for number in range(asked.rounds):
        peers.append(_run(folder, "run.py", asked.peer, "--reps", "1", "--n", count))
        _show(f"{asked.peer} {number + 1}", peers[-1])
        more = ["--kill"] if asked.kill and number == 0 else []
        ours.append(
            _run(
                folder,
                "tidings_peer.py",
                *("--n", count, "--reps", "1", "--tenants", str(asked.tenants), "--bulk"),
                *more,
            )
        )
        _show(f"tidings {number + 1}", ours[-1])
    sys.stdout.write(f"\n{'medians':16}{asked.peer:>14}{'tidings':>14}{'ratio':>10}\n")
    for name, key in _FIGURES.items():
        theirs, mine = (statistics.median(float(one[key]) for one in rounds) for rounds in (peers, ours))
        sys.stdout.write(f"{name:16}{theirs:>14,.1f}{mine:>14,.1f}{mine / theirs:>10.2f}\n")
    # The peer has no bulks: beside its end to end.
    theirs, mine = (
        statistics.median(float(one[key]) for one in rounds)
        for rounds, key in ((peers, "e2e_rate"), (ours, "bulk_rate"))
    )
    sys.stdout.write(f"{'bulks, e2e/s':16}{theirs:>14,.1f}{mine:>14,.1f}{mine / theirs:>10.2f}\n")
    for kill in ours[0].get("kills", ()):
        sys.stdout.write(
            f"killed {kill['who']}: of {kill['accepted']:,} accepted {kill['missing']} missing, {kill['dup']} sent twice\n"
        )
    return 0


def _run(folder: Path, *words: str) -> Mapping[str, Any]:
    done = subprocess.run(
        [str(_PYTHON), str(folder / words[0]), *words[1:]],
        cwd=_ROOT,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        raise SystemExit(
            f"{words[0]} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    found: Mapping[str, Any] = json.loads(lines[-1])
    return found


def _show(name: str, found: Mapping[str, Any]) -> None:
    figures = "  ".join(f"{figure} {found.get(key, '–')}" for figure, key in _FIGURES.items())
    bulks = f"  bulks/s {found['bulk_rate']}" if "bulk_rate" in found else ""
    sys.stdout.write(f"{name:16}{figures}{bulks}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
