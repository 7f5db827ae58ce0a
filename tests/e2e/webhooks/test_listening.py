"""`tidings listen` beside a real webhook: the same event comes with the same body, the same id, and a signature of its own."""

import json
import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2

from tests.support.running import TIDINGS, RunningTidings, clean_environment, run_tidings, wait_until

TYPE = "notification.queued.v1"


def test_it_forwards_what_a_webhook_is_told(tmp_path: Path) -> None:
    """Over a restart of Tidings nothing is missed; Ctrl-C ends it with a summary."""
    where = ("--data-dir", str(tmp_path / "house"))
    with ExitStack() as ending:
        with RunningTidings(tmp_path / "house") as tidings:
            demo = tidings.demo
            sandbox = demo["sandbox_url"]
            made = httpx2.post(f"{sandbox}/receivers/told/webhook", json={"events": [TYPE]})
            assert made.status_code == 201, made.text
            forward = ("--forward-to", f"{sandbox}/receiver/forwarded")
            listening = subprocess.Popen(
                [*TIDINGS, "listen", *forward, "--event", TYPE, "--from-beginning", *where],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=clean_environment(),
            )
            ending.callback(listening.kill)
            send(where)
            [told] = wait_until(lambda: calls(sandbox, "told"), "the webhook")
            [forwarded] = wait_until(lambda: calls(sandbox, "forwarded"), "what is forwarded")
            port = int(demo["base_url"].rpartition(":")[2])
        with RunningTidings(tmp_path / "house", port=port) as tidings:
            sandbox = tidings.demo["sandbox_url"]
            send(where)
            wait_until(lambda: calls(sandbox, "forwarded"), "what comes after the restart")
            listening.send_signal(signal.SIGINT)
            out, err = listening.communicate(timeout=30)

    assert forwarded["body"] == told["body"]
    names = {"webhook-id", "webhook-timestamp", "webhook-signature", "content-type"}
    assert names <= set(forwarded["headers"])
    assert set(forwarded["headers"]) == set(told["headers"])
    assert forwarded["webhook_id"] == told["webhook_id"]
    assert listening.returncode == 0, err
    assert [line.split()[1] for line in out.splitlines()] == [TYPE, TYPE]
    assert "2 events: 2 taken, 0 not" in err
    assert "goes on from here" in err
    assert "Traceback" not in err
    secret = json.loads((tmp_path / "house" / "listen.json").read_text())["secret"]
    assert f"verify with the secret {secret}" in err


def send(where: tuple[str, str]) -> None:
    """A message, which is queued."""
    words = ("laila@example.test", "--template", "otp", "--var", "code=042424")
    sent = run_tidings("send", *words, *where)
    assert sent.returncode == 0, sent.stderr


def calls(sandbox: str, name: str) -> list[dict[str, Any]]:
    """What a receiver has heard."""
    found = httpx2.get(f"{sandbox}/receivers/{name}/calls")
    return list(found.json()["calls"]) if found.status_code == 200 else []
