"""Settings are read once, checked whole and never shown when they are secret."""

from datetime import timedelta
from pathlib import Path

import pytest

from tidings import settings


def test_nothing_set_is_a_working_laptop() -> None:
    """The defaults need no outside service."""
    loaded = settings.load({})

    assert loaded.database.url is None
    assert (loaded.http.host, loaded.http.port) == ("127.0.0.1", 8080)
    assert loaded.kms_url().startswith("file://")


def test_values_are_converted() -> None:
    """Numbers, durations, folders and secrets."""
    loaded = settings.load(
        {
            "TIDINGS_PORT": "9000",
            "TIDINGS_DATABASE_STATEMENT_TIMEOUT": "1.5m",
            "TIDINGS_DATA_DIR": "/srv/tidings",
            "TIDINGS_DATABASE_URL": "postgresql://u:topsecret@h/d",
        }
    )

    assert loaded.http.port == 9000
    assert loaded.database.statement_timeout == timedelta(seconds=90)
    assert loaded.data_dir == Path("/srv/tidings")
    assert loaded.database.url is not None
    assert loaded.database.url.reveal() == "postgresql://u:topsecret@h/d"
    assert "topsecret" not in repr(loaded)


def test_a_flag_wins_over_the_environment() -> None:
    """And one that was not given does not."""
    loaded = settings.load(
        {"TIDINGS_PORT": "9000", "TIDINGS_HOST": "0.0.0.0"}, TIDINGS_PORT=9100, TIDINGS_HOST=None
    )

    assert (loaded.http.port, loaded.http.host) == (9100, "0.0.0.0")


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("TIDINGS_PORT", "http", "TIDINGS_PORT must be a whole number, not 'http'"),
        ("TIDINGS_PORT", "70000", "TIDINGS_PORT must be between 0 and 65535, not '70000'"),
        ("TIDINGS_SWEEP_EVERY", "soon", "TIDINGS_SWEEP_EVERY must be a duration such as 500ms, 30s, 5m, 2h or 1d, not 'soon'"),
        ("TIDINGS_SWEEP_EVERY", "0s", "TIDINGS_SWEEP_EVERY must be longer than zero, not '0s'"),
        ("TIDINGS_LOG_LEVEL", "loud", "TIDINGS_LOG_LEVEL must be one of debug, info, warning, error, not 'loud'"),
        ("TIDINGS_PUBLIC_URL", "example.org", "TIDINGS_PUBLIC_URL must be a URL that starts with https:// or http://, without user name, password, query or fragment, not 'example.org'"),
        ("TIDINGS_PUBLIC_URL", "https://us:pw@example.org", "TIDINGS_PUBLIC_URL must be a URL that starts with https:// or http://, without user name, password, query or fragment"),
        ("TIDINGS_JWKS_URL", "https://id.example/keys", "TIDINGS_JWKS_URL needs TIDINGS_JWT_ISSUER and TIDINGS_JWT_AUDIENCE, so that both are pinned"),
    ],
)  # fmt: skip
def test_nonsense_is_refused_by_name(name: str, value: str, complaint: str) -> None:
    """One sentence: the variable, what it has to be, what it was."""
    with pytest.raises(settings.BadSettingsError) as refused:
        settings.load({name: value})

    assert refused.value.problems == [complaint]


def test_all_problems_are_told_at_once_and_secrets_not_at_all() -> None:
    """An operator mends a file in one go; a bad URL may hold a password."""
    with pytest.raises(settings.BadSettingsError) as refused:
        settings.load({"TIDINGS_PORT": "x", "TIDINGS_DATABASE_URL": "mysql://u:topsecret@h/d"})

    assert len(refused.value.problems) == 2
    assert "topsecret" not in str(refused.value)


def test_a_misspelt_variable_is_noticed() -> None:
    """With the name that was probably meant."""
    environment = {"TIDINGS_PROT": "1", "TIDINGS_SECRET_SMTP": "x"}

    found = settings.warnings(settings.load(environment), environment)

    assert found == ["TIDINGS_PROT is not a setting; did you mean TIDINGS_PORT?"]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"TIDINGS_TENANT_NETWORKS": "10.0.0.1/8"}, "TIDINGS_TENANT_NETWORKS must be networks"),
        ({"TIDINGS_TENANT_NETWORKS": "home"}, "TIDINGS_TENANT_NETWORKS must be networks"),
        ({"TIDINGS_DNS_SERVERS": "dns.example"}, "TIDINGS_DNS_SERVERS must be IP addresses"),
        ({"TIDINGS_DNS_SERVERS": "10.0.0.2:99999"}, "TIDINGS_DNS_SERVERS must be IP addresses"),
        ({"TIDINGS_VAULT_URL": "https://vault.example"}, "TIDINGS_VAULT_URL needs TIDINGS_VAULT_TOKEN"),
        ({"TIDINGS_VAULT_URL": "vault.example"}, "TIDINGS_VAULT_URL must be a URL"),
        ({"TIDINGS_SECRETS_MAX_AGE": "0s"}, "TIDINGS_SECRETS_MAX_AGE must be longer than zero"),
    ],
)
def test_lists_and_pairs_are_checked(given: dict[str, str], complaint: str) -> None:
    with pytest.raises(settings.BadSettingsError, match=complaint):
        settings.load(given)


def test_addresses_with_and_without_a_port() -> None:
    given = "10.0.0.2, 10.0.0.3:5353 fd00::2,[fd00::3]:5353"

    assert [settings.address_and_port(one, 53) for one in settings.words(given)] == [
        ("10.0.0.2", 53), ("10.0.0.3", 5353), ("fd00::2", 53), ("fd00::3", 5353),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("environment", "networks"),
    [
        ({}, "127.0.0.0/8, ::1/128"),
        ({"TIDINGS_HOST": "::1"}, "127.0.0.0/8, ::1/128"),
        ({"TIDINGS_TENANT_NETWORKS": "10.0.0.0/8"}, "10.0.0.0/8"),
        ({"TIDINGS_HOST": "0.0.0.0"}, ""),
        ({"TIDINGS_PUBLIC_URL": "https://tidings.example"}, ""),
        ({"TIDINGS_SANDBOX": "off"}, ""),
    ],
)
def test_tidings_up_opens_loopback_where_nobody_else_can_ask_for_it(
    environment: dict[str, str], networks: str
) -> None:
    opened = settings.open_loopback(settings.load(environment))
    assert opened.channels.tenant_networks == networks
