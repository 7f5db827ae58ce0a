"""Which hot state a URL opens, and what is said where that can't be."""

import subprocess
import sys

import pytest

from tidings import settings
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.errors import NotConfiguredError
from tidings.kernel.hot_state_takeover import TakeoverHotState
from tidings.kernel.hot_state_url import open_hot_state
from tidings.kernel.local_hot_state import LocalHotState
from tidings.kernel.secrets import Secret

_DB = Database("postgresql://nobody@127.0.0.1:1/none")


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        (None, LocalHotState),
        ("postgres:", LocalHotState),
        ("redis://h/0", TakeoverHotState),
        ("rediss://u:p@h:6380/1", TakeoverHotState),
        ("valkey://h", TakeoverHotState),
        ("valkeys://h", TakeoverHotState),
    ],
)
async def test_by_scheme(url: str | None, kind: type) -> None:
    """Nobody is connected to before something is asked."""
    opened = open_hot_state(Secret(url) if url else None, _DB, SystemClock())

    assert isinstance(opened, kind)
    await opened.close()


@pytest.mark.parametrize("url", ["memcached://u:topsecret@h", "redis://u:topsecret@h:port/0"])
async def test_a_url_that_is_none_is_refused_without_quoting_it(url: str) -> None:
    """It may hold a password."""
    with pytest.raises(NotConfiguredError) as refused:
        open_hot_state(Secret(url), _DB, SystemClock())

    assert "redis://" in str(refused.value)
    assert "topsecret" not in str(refused.value)


def test_without_the_extra_only_redis_is_refused_and_the_extra_named() -> None:
    """Everything else works without the client."""
    program = """
import sys
sys.modules["redis"] = None
from tidings.kernel.clock import SystemClock
from tidings.kernel.errors import NotConfiguredError
from tidings.kernel.hot_state_url import open_hot_state
from tidings.kernel.secrets import Secret
import tidings.bootstrap.system
open_hot_state(None, None, SystemClock())
try:
    open_hot_state(Secret("redis://h"), None, SystemClock())
except NotConfiguredError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert (
        ran.stdout.strip()
        == "hot state in Redis needs the extra `redis`: pip install 'tidings-platform[redis]'"
    )


def test_the_setting_is_checked_and_never_shown() -> None:
    """A wrong scheme is named by its variable."""
    loaded = settings.load({"TIDINGS_HOT_STATE_URL": "redis://u:topsecret@h/0"})
    with pytest.raises(settings.BadSettingsError) as refused:
        settings.load({"TIDINGS_HOT_STATE_URL": "http://u:topsecret@h"})

    assert loaded.stores.hot_state_url == Secret("redis://u:topsecret@h/0")
    assert "topsecret" not in repr(loaded) + str(refused.value)
    assert "TIDINGS_HOT_STATE_URL must be postgres: or a URL" in str(refused.value)
