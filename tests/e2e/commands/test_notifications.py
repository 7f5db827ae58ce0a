"""`tidings send`, `explain` and `tail` at the keyboard of a running Tidings."""

import json
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from tests.e2e.commands.conftest import Operator
from tests.support.running import TIDINGS, clean_environment, wait_until

pytestmark = pytest.mark.xdist_group("commands")

ORDER = {
    "order_number": "A-1001",
    "total": {"amount_micros": 42_500_000, "currency": "USD"},
    "items": [{"name": "Green tea", "quantity": 2}],
}


def variables(folder: Path) -> str:
    """A file with what the template needs."""
    file = folder / "order.json"
    file.write_text(json.dumps(ORDER))
    return str(file)


def test_send_and_wait(operator: Operator, tmp_path: Path) -> None:
    """What became of it is shown, and it is at the sandbox."""
    said = operator.reads(
        *("send", "waited-for@example.test", "--template", "order_confirmation", "--channel", "email"),
        *("--variables", variables(tmp_path), "--name", "Laila", "--locale", "fa-AF", "--wait"),
    )

    assert "  delivered  email · order_confirmation" in said
    assert "Timeline" in said
    found = httpx2.get(
        f"{operator.running.demo['sandbox_url']}/messages", params={"to": "waited-for@example.test"}
    ).json()["messages"]
    assert len(found) == 1
    assert 'dir="rtl"' in found[0]["html"]


def test_explain_in_words_and_as_json(operator: Operator, tmp_path: Path) -> None:
    """The same story twice."""
    made = operator.gets(
        *("send", "explained@example.test", "-t", "order_confirmation", "--channel", "email"),
        *("--variables", variables(tmp_path), "--wait"),
    )
    notification = made["notification"]["id"]

    told, whole = operator.reads("explain", notification), operator.gets("explain", notification)

    assert notification in told
    assert "\x1b[" not in told
    assert whole["notification"]["status"] == "delivered"
    for line in whole["timeline"]:
        assert line["text"] in told


def test_simulate(operator: Operator, tmp_path: Path) -> None:
    """Nothing is sent."""
    said = operator.reads(
        *("send", "never@example.test", "-t", "order_confirmation", "--channel", "email"),
        *("--variables", variables(tmp_path), "--simulate"),
    )

    assert said.startswith("It would be sent")
    assert "A-1001" in said


def test_mistakes_are_told_in_one_line(operator: Operator) -> None:
    """With the field that is wrong."""
    assert "template" in operator.is_refused("send", "a@example.test", "-t", "no_such_template")
    assert "variables" in operator.is_refused(
        "send", "a@example.test", "-t", "order_confirmation", "--channel", "email"
    )
    assert operator.is_refused("explain", "ntf_01JCQ8ZK6T9Y4M2V7N5B3D1F0G")
    assert operator.is_refused("explain", "nonsense")


def test_tail_shows_what_happens(operator: Operator, tmp_path: Path) -> None:
    """A line for each change, as it happens, until Ctrl-C."""
    stream = tmp_path / "tail.txt"
    with (
        stream.open("w") as out,
        subprocess.Popen(
            [*TIDINGS, "tail", "-n", "0", "--json"],
            stdout=out,
            env=clean_environment(TIDINGS_DATA_DIR=str(operator.running.data_dir)),
        ) as tail,
    ):
        try:
            # It has begun when it follows what comes next, so send until something is seen.
            def seen() -> list[str]:
                operator.reads(
                    *("send", "tailed@example.test", "-t", "order_confirmation", "--channel", "email"),
                    *("--variables", variables(tmp_path), "--wait"),
                )
                lines = [json.loads(line) for line in stream.read_text().splitlines() if line.endswith("}")]
                return [line["id"] for line in lines if line["status"] == "delivered"]

            wait_until(seen, "tail to tell of a delivery")
        finally:
            tail.terminate()
            tail.wait(30)


def test_help_is_quick_because_nothing_heavy_is_loaded() -> None:
    """Neither the client's network nor the server's parts."""
    script = (
        "import sys; sys.argv = ['tidings', '--help']\n"
        "from tidings.cli.main import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'httpx2', 'rich', 'msgspec', 'asyncpg'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    for command in ("send", "explain", "tail"):
        assert f"  {command} " in done.stdout
