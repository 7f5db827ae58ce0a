"""What `deploy/` and docs/deploying.md tell an operator to run exists: commands, settings, ports, files."""

import re
import shlex
import shutil
import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.generated_docs import DOCS
from tests.unit.test_docs_commands import mistake_in
from tidings import settings

ROOT = DOCS.parent
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.*"))
SERVICES = [unit for unit in UNITS if unit.suffix == ".service"]
SETTINGS = {name for name, _, _ in settings.describe()}


class _Unit(RawConfigParser):
    """A unit file: names may stand there several times, and count as written."""

    def __init__(self, file: Path) -> None:
        super().__init__(strict=False, interpolation=None, delimiters=("=",), comment_prefixes=("#",))
        self.optionxform = str  # type: ignore[assignment,method-assign]
        self.read_string(file.read_text())

    @staticmethod
    def lines(file: Path, name: str) -> list[str]:
        """Every value of one name, in order."""
        return re.findall(rf"^{name}=(.*)$", file.read_text(), re.MULTILINE)


def _settings_named(text: str) -> set[str]:
    return set(re.findall(r"\bTIDINGS_[A-Z_]+\b", text))


def _compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "container" / "compose.yaml").read_text())
    return found


@pytest.mark.parametrize(
    "file", [file for file in DEPLOY.rglob("*") if file.is_file()], ids=lambda file: file.name
)
def test_every_setting_that_is_named_exists(file: Path) -> None:
    assert _settings_named(file.read_text()) - SETTINGS == set()


@pytest.mark.parametrize("unit", SERVICES, ids=lambda unit: unit.name)
def test_units_run_commands_that_exist_as_nobody_in_particular(unit: Path) -> None:
    service = _Unit(unit)["Service"]
    commands = [shlex.split(line) for line in _Unit.lines(unit, "ExecStart")]

    assert commands
    for program, *arguments in commands:
        assert program == "/opt/tidings/.venv/bin/tidings"
        assert mistake_in(shlex.join(["tidings", *arguments])) is None
    assert (service["User"], service["NoNewPrivileges"], service["ProtectSystem"]) == (
        "tidings",
        "true",
        "strict",
    )


def test_what_serves_never_reads_the_owners_password() -> None:
    reading = {unit.name for unit in SERVICES if "owner.env" in unit.read_text()}
    services = _compose()["services"]
    knowing = {name for name in services if "tidings_owner" in str(services[name])}

    assert reading == {"tidings-migrate.service", "tidings-partitions.service"}
    assert knowing == {"migrate", "partitions"}


@pytest.mark.skipif(
    not shutil.which("systemd-analyze"), reason="needs systemd-analyze (apt-get install systemd)"
)
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    """With the program and the files in the places that this machine has."""
    for name in ("tidings.env", "owner.env"):
        (tmp_path / name).write_text((DEPLOY / "systemd" / name).read_text())
    for unit in UNITS:
        text = unit.read_text().replace("/opt/tidings/.venv/bin/tidings", sys.executable)
        (tmp_path / unit.name).write_text(
            text.replace("/etc/tidings/", f"{tmp_path}/")
            .replace("User=tidings", "User=root")
            .replace("Group=tidings", "Group=root")
        )
    for name in ("worker", "notify", "router"):
        (tmp_path / f"tidings-{name}@.service").rename(tmp_path / f"tidings-{name}@1.service")

    units = [str(file) for file in tmp_path.iterdir() if file.suffix != ".env"]
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", *units],
        capture_output=True,
        text=True,
        check=False,
    )

    ours = [line for line in done.stderr.splitlines() if str(tmp_path) in line]
    assert (ours, done.returncode) == ([], 0), done.stderr


def test_the_containerfile_passes_its_linter() -> None:
    """Warnings too; what is passed over is said in the file."""
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run(
        [hadolint, "--no-color", str(DEPLOY / "container" / "Containerfile")],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout, done.returncode) == ("", 0)


def test_compose_starts_roles_that_exist_in_their_order() -> None:
    services = _compose()["services"]
    shell = " && ".join(str(services[name]["entrypoint"][-1]) for name in ("migrate", "partitions"))

    assert services["api"]["command"] == ["serve"]
    assert services["worker"]["command"] == ["work"]
    for command in re.findall(r"tidings [a-z][a-z -]*", shell):
        assert mistake_in(command.strip()) is None
    for name in ("api", "worker", "partitions"):
        assert services[name]["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}
        assert services[name]["read_only"] is True
    for volume in services["postgres"]["volumes"]:
        source = volume.split(":")[0]
        assert not source.startswith(".") or (DEPLOY / "container" / source).exists(), source
    variables = set(re.findall(r"\$\{([A-Z_]+)", (DEPLOY / "container" / "compose.yaml").read_text()))
    assert variables == set(
        re.findall(r"^([A-Z_]+)=", (DEPLOY / "container" / "example.env").read_text(), re.MULTILINE)
    )


def test_the_services_apart_extend_the_worker_and_share_a_broker() -> None:
    apart = yaml.safe_load((DEPLOY / "container" / "apart.yaml").read_text())["services"]
    known = _compose()["services"]

    for name in ("notify", "router"):
        assert apart[name]["extends"] == {"file": "compose.yaml", "service": "worker"}
        assert apart[name]["command"] == ["work", "--only", name]
        assert mistake_in(shlex.join(["tidings", *apart[name]["command"]])) is None
    assert {
        apart[name]["environment"]["TIDINGS_BUS_URL"] for name in ("api", "notify", "router", "migrate")
    } == {"nats://nats:4222"}
    assert set(apart) - {"nats", "notify", "router"} <= set(known)
    # The extra that the client of NATS comes with.
    assert "nats" in (DEPLOY / "container" / "Containerfile").read_text()


def test_the_image_holds_what_the_build_copies() -> None:
    """A file that moved would break the build, and nothing here builds it."""
    text = (DEPLOY / "container" / "Containerfile").read_text()
    copied = [
        word for line in re.findall(r"^COPY (?!--)(.*)$", text, re.MULTILINE) for word in line.split()[:-1]
    ]
    ignored = (ROOT / ".dockerignore").read_text().split()

    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert not {name.split("/")[0] for name in copied} & set(ignored)


@pytest.mark.parametrize("page", ["u", "p", "c", "t/o", "t/c", "portal", "console/join", "console/open"])
def test_the_proxy_logs_no_token_of_a_path(page: str) -> None:
    """As its own map cuts them off, written for Python."""
    (pattern,) = re.findall(r"~(\^\(\?<public>\S+)", (DEPLOY / "nginx" / "tidings.conf").read_text())

    found = re.match(pattern.replace("(?<public>", "(?P<public>"), f"/{page}/01M7SECRET")

    assert found is not None
    assert found["public"] == f"/{page}/"


@pytest.mark.skipif(not shutil.which("nginx"), reason="needs nginx (apt-get install nginx-light)")
def test_nginx_takes_the_configuration(tmp_path: Path) -> None:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=notify.example.com", "-days", "1",
         "-keyout", str(tmp_path / "privkey.pem"), "-out", str(tmp_path / "fullchain.pem")],
        capture_output=True, check=True,
    )  # fmt: skip
    ours = (DEPLOY / "nginx" / "tidings.conf").read_text()
    ours = ours.replace("/etc/tidings/tls", str(tmp_path)).replace("/var/log/nginx", str(tmp_path))
    (tmp_path / "tidings.conf").write_text(ours)
    whole = f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ include {tmp_path}/tidings.conf; }}"
    (tmp_path / "nginx.conf").write_text(whole)

    done = subprocess.run(
        ["nginx", "-t", "-e", "stderr", "-c", str(tmp_path / "nginx.conf")],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "warn" not in done.stderr


def test_the_page_names_files_and_ports_that_are_there() -> None:
    page = (DOCS / "deploying.md").read_text()
    copied = re.findall(r"deploy/(?:systemd|container|nginx|prometheus)/[\w.@-]+\.\w+", page)
    api = _Unit.lines(DEPLOY / "systemd" / "tidings-api.service", "Environment")
    worker = _Unit.lines(DEPLOY / "systemd" / "tidings-worker@.service", "Environment")

    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert api == ["TIDINGS_METRICS_PORT=9190"]
    assert worker == ["TIDINGS_METRICS_PORT=919%i"]
    for unit, port in (("notify", "920%i"), ("router", "921%i")):
        named = _Unit.lines(DEPLOY / "systemd" / f"tidings-{unit}@.service", "Environment")
        assert named == [f"TIDINGS_METRICS_PORT={port}"]
        assert f"`tidings-{unit}@1`" in page
    assert '"127.0.0.1:9190", "127.0.0.1:9191"' in page
    assert _settings_named(page) - SETTINGS == set()
