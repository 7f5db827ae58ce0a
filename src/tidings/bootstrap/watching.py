"""What whoever watches this process is told: its checks, its metrics, and where both are served."""

import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tidings.kernel.errors import NotConfiguredError
from tidings.kernel.http.health import Check
from tidings.kernel.http.serve import listen
from tidings.kernel.http.watch_app import WatchApp
from tidings.settings import Settings

if TYPE_CHECKING:
    from tidings.bootstrap.system import System

#: Where `tidings work` is watched, if nobody says otherwise.
DEFAULT_PORT = 9464


def listen_for_watchers(settings: Settings, *, serves_api: bool) -> socket.socket | None:
    """The listener of `/healthz`, `/readyz` and `/metrics`; none where the API's port is enough, or none is wanted."""
    chosen = settings.observability.metrics_port
    host = settings.observability.metrics_host or settings.http.host
    if chosen == "off" or (chosen is None and serves_api):
        return None
    if chosen is not None:
        return listen(host, int(chosen), option="--metrics-port")
    try:
        return listen(host, DEFAULT_PORT, option="--metrics-port")
    except NotConfiguredError:
        # Another worker of this machine has it, as a rule; nobody asked for this one in particular.
        return listen(host, 0, option="--metrics-port")


def watch_app(system: "System") -> WatchApp:
    """What is served there."""
    checks: dict[str, Check] = {**shared_checks(system)}
    checks["jobs"] = system.job_watch.check
    return WatchApp(checks=checks, render_metrics=system.metrics.render)


def shared_checks(system: "System") -> Mapping[str, Check]:
    """The parts that every process needs."""
    hot_state = {"hot_state": system.hot_state.check} if system.settings.stores.hot_state_url else {}
    return {"database": system.db.ping, "partitions": system.partition_readiness.check, **hot_state}
