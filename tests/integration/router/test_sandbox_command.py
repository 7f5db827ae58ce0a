"""`tidings sandbox`, as a process of its own."""

import signal
import smtplib
import subprocess
import sys

import httpx2

_COMMAND = "import typer; from tidings.cli.sandbox import sandbox; typer.run(sandbox)"


def test_it_runs_alone_and_stops_when_told() -> None:
    """It says where it listens, takes mail and shows it, and ends well on a signal."""
    command = [
        sys.executable,
        "-c",
        _COMMAND,
        "--smtp-port",
        "0",
        "--http-port",
        "0",
        "--smpp-port",
        "0",
        "--apns-port",
        "0",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said: dict[str, str] = {}
            while "HTTP" not in said:
                line = process.stdout.readline()
                assert line or process.poll() is None
                name, _, value = line.strip().partition(" ")
                said[name] = value.strip()
            assert int(said["SMPP"].partition(":")[2]) > 0
            host, _, port = said["SMTP"].partition(":")
            with smtplib.SMTP(host, int(port)) as client:
                client.sendmail(
                    "a@b.test", ["laila@example.test"], "Subject: hello\r\n\r\nfrom elsewhere\r\n.\r\n"
                )
            found = httpx2.get(f"{said['Messages']}messages", params={"to": "laila@example.test"}).json()
        finally:
            process.send_signal(signal.SIGTERM)
        status = process.wait(timeout=20)

    (message,) = found["messages"]
    assert message["subject"] == "hello"
    assert message["text"] == "from elsewhere\n.\n"
    assert status == 0
