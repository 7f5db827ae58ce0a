"""Where the health and the metrics of a process are served."""

import socket
from typing import TYPE_CHECKING

from tidings.kernel.errors import NotConfiguredError
from tidings.kernel.http.serve import listen
from tidings.kernel.http.watch_app import WatchApp
from tidings.settings import Settings

if TYPE_CHECKING:
    from tidings.bootstrap.system import System

#: Where `tidings work` is watched, if no setting says otherwise.
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
        # Another worker of this machine has it, as a rule; no setting asked for this one in particular.
        return listen(host, 0, option="--metrics-port")


def watch_app(system: "System") -> WatchApp:
    """What is served there."""
    kernel = system.kernel
    checks = {**system.checks(), "jobs": kernel.job_watch.check, "journal": kernel.journal.check}
    return WatchApp(checks=checks, render_metrics=kernel.metrics.render)
