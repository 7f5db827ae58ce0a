"""What the README tells a newcomer to type works as it stands."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.running import TIDINGS, RunningTidings, clean_environment, run_tidings, wait_until

ROOT = Path(__file__).parents[3]


def code_lines() -> list[str]:
    """The indented lines, with continuation lines joined; those of "Running it" are for another machine."""
    text = (ROOT / "README.md").read_text().partition("\n## Running it\n")[0]
    text = re.sub(r" \\\n +", " ", text)
    return [line.strip() for line in text.splitlines() if line.startswith("    ")]


def test_it_leads_with_the_two_commands_and_ci_runs_the_second() -> None:
    """`make up` and `make test` come first, and CI calls what the README says."""
    first, second = code_lines()[:2]

    assert first.startswith("make up")
    assert second.startswith("make test")
    assert "make test" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl, as the README does")
def test_the_first_five_minutes(data_dir: Path, tmp_path: Path) -> None:
    """The call that it shows is answered, the mail is on the sandbox page in Dari, and explain tells its story.

    What it sends by command arrives too, by mail and on a telephone.
    """
    lines = code_lines()
    first = next(i for i, line in enumerate(lines) if line.startswith("demo()"))
    last = next(i for i, line in enumerate(lines) if i > first and line.endswith("}}'"))
    (tmp_path / "tidings-data").symlink_to(data_dir)

    with RunningTidings(data_dir) as tidings:
        script = "\n".join(lines[first : last + 1]).replace("python3", sys.executable)
        done = subprocess.run(
            ["/bin/sh", "-c", script],
            cwd=tmp_path,
            env=clean_environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        accepted = json.loads(done.stdout)
        mail = wait_until(lambda: _received(tidings.demo["sandbox_url"]), "the mail")
        headers = {"Authorization": f"Bearer {tidings.demo['api_key']}"}
        where = tidings.demo["base_url"] + accepted["links"]["explain"]
        told = wait_until(lambda: _delivered(where, headers), "the outcome")
        # Up to the next part; further down it is about a database of one's own.
        minutes = lines[: next(i for i, line in enumerate(lines) if line.startswith("call()"))]
        typed = [shlex.split(line)[1:] for line in minutes if line.startswith("tidings send ")]
        sent = [run_tidings(*words, TIDINGS_DATA_DIR=str(data_dir)) for words in typed]

    assert [(one.returncode, one.stderr) for one in sent] == [(0, "")] * 2
    assert "Delivered by push" in sent[1].stdout
    assert accepted["status"] == "queued"
    assert mail["to"] == "laila@example.test"
    assert 'dir="rtl"' in mail["html"]
    assert "فرمایش" in mail["subject"]
    assert [line["kind"] for line in told["timeline"]][-1] == "delivered"


@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl, as the README does")
def test_from_channel_to_channel(used_dir: Path, tmp_path: Path) -> None:
    """WhatsApp finds nobody, SMS never arrives, the mail is delivered; explain shows the way and the costs."""
    lines = code_lines()
    demo = next(line for line in lines if line.startswith("demo()"))
    first = next(i for i, line in enumerate(lines) if line.startswith("call()"))
    last = next(i for i, line in enumerate(lines) if i > first and line.endswith("]}}'"))
    (tmp_path / "tidings-data").symlink_to(used_dir)

    with RunningTidings(used_dir) as tidings:
        script = "\n".join([demo, *lines[first : last + 1]]).replace("python3", sys.executable)
        done = subprocess.run(
            ["/bin/sh", "-c", script],
            cwd=tmp_path,
            env=clean_environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        accepted, _ = json.JSONDecoder().raw_decode(done.stdout[done.stdout.index('{"id":"ntf_') :])
        headers = {"Authorization": f"Bearer {tidings.demo['api_key']}"}
        where = tidings.demo["base_url"] + accepted["links"]["explain"]
        told = wait_until(lambda: _delivered(where, headers), "the outcome")

    ways = [(a["channel"], a["status"]) for a in told["attempts"]]
    assert ways == [("whatsapp", "accepted"), ("sms", "accepted"), ("email", "accepted")]
    assert (told["notification"]["status"], told["notification"]["final_channel"]) == ("delivered", "email")
    assert [one["result"] for one in told["timeline"] if one["kind"] == "outcome"] == ["DELIVERED"]
    assert told["summary"].endswith("accepted by the vendor; no receipt expected.")
    shown = next(line for line in (ROOT / "README.md").read_text().splitlines() if " outcome " in line)
    assert shown.endswith(next(one["text"] for one in told["timeline"] if one["kind"] == "outcome"))
    assert [route["receipts"] for route in told["policy"]["routes"]] == [True, True, False]
    heard = [one["kind"] for one in told["timeline"] if one["kind"] in {"receipt", "given_up"}]
    assert heard == ["receipt", "given_up"]
    assert told["policy"]["costs"]["spent_micros"] == 65_100


@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl, as the README does")
def test_and_back(used_dir: Path, tmp_path: Path) -> None:
    """Amina answers in Hausa that she wants no more; the second message is not sent, and explain says why."""
    lines = code_lines()
    helpers = [line for line in lines if line.startswith(("demo()", "call()"))]
    first = next(i for i, line in enumerate(lines) if "-X DELETE" in line)
    last = next(i for i, line in enumerate(lines) if line == "sleep 2; whatsapp")
    (tmp_path / "tidings-data").symlink_to(used_dir)

    with RunningTidings(used_dir) as tidings:
        script = "\n".join([*helpers, *lines[first : last + 1]]).replace("python3", sys.executable)
        done = subprocess.run(
            ["/bin/sh", "-c", script],
            cwd=tmp_path,
            env=clean_environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        accepted, _ = json.JSONDecoder().raw_decode(done.stdout[done.stdout.rindex('{"id":"ntf_') :])
        headers = {"Authorization": f"Bearer {tidings.demo['api_key']}"}
        where = tidings.demo["base_url"] + accepted["links"]["explain"]
        told = wait_until(lambda: _suppressed(where, headers), "the outcome")

    assert (
        "its owner wants no more messages (opt_out; DAKATA, in Hausa, conversation conv_" in told["summary"]
    )


def test_only_say_what_happened(used_dir: Path, tmp_path: Path) -> None:
    """A stay, told by events alone: confirmed, moved and cancelled, with two weeks in between that nobody waits for."""
    lines = code_lines()
    first = next(i for i, line in enumerate(lines) if line.startswith("export TIDINGS_DATA_DIR=stay"))
    last = next(i for i, line in enumerate(lines) if i > first and line.startswith("from tidings_client"))
    (tmp_path / "stay").symlink_to(used_dir)
    # What `--clock now` writes.
    (used_dir / "clock").write_text("0\n")
    tidings_command = f'tidings() {{ {shlex.join(TIDINGS)} "$@"; }}'

    with RunningTidings(used_dir) as tidings:
        script = "\n".join([tidings_command, *lines[first:last]]).replace("python3", sys.executable)
        done = subprocess.run(
            ["/bin/sh", "-c", script],
            cwd=tmp_path,
            env=clean_environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        headers = {"Authorization": f"Bearer {tidings.demo['api_key']}"}
        api = f"{tidings.demo['base_url']}/api/v1"
        planned = httpx2.get(f"{api}/scheduled", headers=headers, params={"status": "planned"}).json()[
            "items"
        ]
        sent = httpx2.get(f"{api}/triggers/firings", headers=headers).json()["items"]
        mails = [
            one["subject"]
            for one in httpx2.get(
                f"{tidings.demo['sandbox_url']}/messages", params={"channel": "email"}
            ).json()["messages"]
            if one["to"] == "amelie@example.test"
        ]
        ids = {one["template"]: one["notification_id"] for one in sent if one["result"] == "sent"}
        told = httpx2.get(
            f"{api}/notifications/{ids['reservation_reminder']}/explain", headers=headers
        ).json()

    assert "stay_thank_you" in done.stdout
    assert planned == []
    assert sorted(subject.split()[0] for subject in mails) == ["Rappel", "Votre"]
    assert set(ids) == {"reservation_confirmation", "reservation_reminder"}
    assert told["trigger"]["event_type"] == "reservation.moved"
    assert "(09:00 in Asia/Kabul)" in told["timeline"][0]["text"]


def _suppressed(url: str, headers: dict[str, str]) -> Any:
    told = httpx2.get(url, headers=headers).json()
    return told if told["notification"]["status"] == "suppressed" else None


def _received(sandbox_url: str) -> Any:
    found = httpx2.get(f"{sandbox_url}/messages", params={"channel": "email"}).json()["messages"]
    return found[0] if found else None


def _delivered(url: str, headers: dict[str, str]) -> Any:
    told = httpx2.get(url, headers=headers).json()
    return told if told["notification"]["status"] == "delivered" else None
