"""What these tests share: the real API, one for each worker, with a new tenant for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import ServedApi, Types, served_api, typing_in
from tests.support.postgres import TestServer
from tidings.kernel.ids import TenantId


@pytest.fixture(scope="session")
def api(server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedApi]:
    """The running API."""
    with served_api(server, tmp_path_factory.mktemp("api")) as served:
        yield served


@pytest.fixture
def tenant_id(api: ServedApi, tmp_path: Path) -> TenantId:
    """A tenant that no other test knows, and its keys in the test's folder."""
    return api.move_in(tmp_path)


@pytest.fixture
def types(
    tenant_id: TenantId,  # whose keys are found there
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Types:
    """Type a command as that tenant."""
    return typing_in(tmp_path, monkeypatch, capsys)
