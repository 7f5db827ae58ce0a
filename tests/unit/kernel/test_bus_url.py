"""Which engine a URL chooses."""

import subprocess
import sys

import pytest

from tidings.kernel.bus_url import open_bus
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.errors import NotConfiguredError
from tidings.kernel.nats_bus.bus import NatsBus
from tidings.kernel.postgres_bus import PostgresBus
from tidings.kernel.secrets import Secret
from tidings.settings import BadSettingsError, load


def _open(url: str | None) -> PostgresBus:
    return open_bus(Secret(url) if url else None, "", Database(""), clock=SystemClock())


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        (None, PostgresBus),
        ("postgres:", PostgresBus),
        ("nats://host", NatsBus),
        ("nats://user:password@a:4222,b:4222?replicas=3", NatsBus),
        ("tls://host?ca=/ca.pem", NatsBus),
    ],
)
def test_a_url_chooses_the_engine(url: str | None, kind: type[PostgresBus]) -> None:
    assert type(_open(url)) is kind


def test_another_broker_is_refused_without_quoting_the_url() -> None:
    with pytest.raises(NotConfiguredError, match="nats://user:password@host") as refused:
        _open("amqp://user:s3cret@host")
    assert "s3cret" not in str(refused.value)


def test_settings_refuse_a_wrong_url_in_one_line() -> None:
    """With the name of the variable and the remedy, at the start."""
    with pytest.raises(BadSettingsError) as refused:
        load({"TIDINGS_BUS_URL": "nats://host?replicas=many"})
    (problem,) = refused.value.problems
    assert problem.startswith("TIDINGS_BUS_URL has replicas that are no number from 1 to 5")


def test_the_client_is_not_imported_without_nats() -> None:
    """Nor by settings that name it: a start pays for what it uses."""
    code = (
        "import sys; from tidings import settings; settings.load({'TIDINGS_BUS_URL': 'nats://h'});"
        "import tidings.kernel.bus_url; sys.exit('nats' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
