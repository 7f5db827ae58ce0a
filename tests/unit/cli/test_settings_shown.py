"""`tidings settings`: what it prints, and what it never does."""

import pytest

from tests.unit.cli.conftest import Types


def test_secrets_stay_hidden(types: Types, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("TIDINGS_DATABASE_URL", "postgresql://u:topsecret@h/d")
    monkeypatch.setenv("TIDINGS_HOT_STATE_URL", "redis://u:topsecret@127.0.0.1:1/0")
    monkeypatch.setenv("TIDINGS_VAULT_TOKEN", "topsecret")
    monkeypatch.setenv("TIDINGS_PORT", "8099")

    done = types("settings")

    assert done.code == 0, done.err
    assert "topsecret" not in done.out + done.err
    assert done.out.count("***") == 3
    assert "8099" in done.out
