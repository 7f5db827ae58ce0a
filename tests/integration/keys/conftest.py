"""What the tests about keys share."""

from pathlib import Path

import pytest

from tests.support.kms import MemoryKms
from tidings.contracts.ids import RECIPIENT
from tidings.kernel.clock import SystemClock
from tidings.kernel.keys.key_file import LocalKeyFileKms
from tidings.kernel.keys.keyring import Keyring


@pytest.fixture
def kms() -> MemoryKms:
    return MemoryKms()


@pytest.fixture
def keyring(kms: MemoryKms) -> Keyring:
    return Keyring(kms, clock=SystemClock())


@pytest.fixture
def key_file(tmp_path: Path) -> LocalKeyFileKms:
    return LocalKeyFileKms(tmp_path / "keys" / "master.json")


def recipients(count: int) -> list[str]:
    """New recipients' ids."""
    now = SystemClock().now()
    return [RECIPIENT.new(now) for _ in range(count)]
