"""Which port a process is watched on."""

import socket

import pytest

from tidings import settings
from tidings.bootstrap import health
from tidings.kernel.errors import NotConfiguredError


def port_of(found: socket.socket | None) -> int | None:
    if found is None:
        return None
    with found:
        return int(found.getsockname()[1])


def test_a_worker_always_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual one; any other, where another worker of the machine has that."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        monkeypatch.setattr(health, "DEFAULT_PORT", other.getsockname()[1])
        second = port_of(health.listen_for_watchers(settings.load({}), serves_api=False))
    usual = port_of(health.listen_for_watchers(settings.load({}), serves_api=False))

    assert usual == health.DEFAULT_PORT
    assert second not in (None, usual)


def test_one_that_was_chosen_is_that_one_or_none() -> None:
    """Prometheus would look for it there."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        chosen = settings.load({"TIDINGS_METRICS_PORT": str(port)})
        with pytest.raises(NotConfiguredError, match="choose another with --metrics-port"):
            health.listen_for_watchers(chosen, serves_api=False)
    assert port_of(health.listen_for_watchers(chosen, serves_api=True)) == port

    off = settings.load({"TIDINGS_METRICS_PORT": "off"})
    assert health.listen_for_watchers(off, serves_api=False) is None


def test_the_api_is_watched_on_its_own_port_unless_another_is_chosen() -> None:
    assert health.listen_for_watchers(settings.load({}), serves_api=True) is None
    assert port_of(health.listen_for_watchers(settings.load({"TIDINGS_METRICS_PORT": "0"}), serves_api=True))


@pytest.mark.parametrize("typed", ["65536", "-1", "on", "9464 "])
def test_what_is_no_port_is_named(typed: str) -> None:
    if typed.strip() == "9464":
        assert settings.load({"TIDINGS_METRICS_PORT": typed}).observability.metrics_port == "9464"
        return
    with pytest.raises(
        settings.BadSettingsError, match="TIDINGS_METRICS_PORT must be a port between 0 and 65535, or off"
    ):
        settings.load({"TIDINGS_METRICS_PORT": typed})
