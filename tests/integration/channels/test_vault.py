"""Secrets that Vault keeps: found, cached, renewed, and what is said when it does not answer."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.certificates import make_certificate
from tests.support.clock import ManualClock
from tests.support.vault import TOKEN, PlayedVault, played_vault
from tidings.kernel.errors import NotConfiguredError
from tidings.kernel.ids import TENANT
from tidings.kernel.secrets import Secret, SecretNotFoundError, SecretStoreError
from tidings.kernel.secrets_vault import VaultSecrets
from tidings.kernel.secrets_vault_client import VaultClient, VaultServer

LOOKUP = "GET /v1/auth/token/lookup-self"
RENEW = "POST /v1/auth/token/renew-self"


@pytest.fixture
def vault() -> Iterator[PlayedVault]:
    with played_vault() as played:
        played.secrets["secret/smtp"] = {"password": "hunter22", "username": "post"}
        yield played


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def secrets(vault: PlayedVault, clock: ManualClock, **server: object) -> VaultSecrets:
    chosen: dict[str, object] = {"url": vault.url, "token": Secret(TOKEN), "timeout": 5.0, **server}
    return VaultSecrets(VaultClient(VaultServer(**chosen), clock=clock), clock=clock)  # type: ignore[arg-type]


async def test_one_key_all_keys_and_the_only_one(vault: PlayedVault, clock: ManualClock) -> None:
    vault.secrets["secret/deep/er"] = {"value": "hunter23"}
    found = secrets(vault, clock)

    assert (await found.resolve("vault://smtp#password")).reveal() == "hunter22"
    assert (await found.resolve("vault://smtp")).reveal() == '{"password": "hunter22", "username": "post"}'
    assert (await found.resolve("vault://deep/er")).reveal() == "hunter23"
    assert vault.heard == [LOOKUP, "GET /v1/secret/data/smtp", "GET /v1/secret/data/deep/er"]


async def test_a_tenant_reads_its_own_and_nothing_else(vault: PlayedVault, clock: ManualClock) -> None:
    mine, other = TENANT.new(clock.now()), TENANT.new(clock.now())
    vault.secrets[f"secret/tenants/{mine}/smtp"] = {"value": "mine"}
    vault.secrets[f"secret/tenants/{other}/smtp"] = {"value": "hunter22-of-another"}
    found = secrets(vault, clock)

    assert (await found.resolve("vault://smtp", tenant_id=mine)).reveal() == "mine"
    for ref in (f"vault://tenants/{other}/smtp", f"vault://{other}/smtp"):
        with pytest.raises(SecretNotFoundError):
            await found.resolve(ref, tenant_id=mine)
    assert not any(line.startswith(f"GET /v1/secret/data/tenants/{other}") for line in vault.heard)


async def test_what_changes_is_seen_after_a_few_seconds(vault: PlayedVault, clock: ManualClock) -> None:
    found = secrets(vault, clock)
    first = await found.resolve("vault://smtp#password")
    vault.secrets["secret/smtp"] = {"password": "hunter23"}
    cached = await found.resolve("vault://smtp#password")
    await clock.advance(timedelta(seconds=6))
    later = await found.resolve("vault://smtp#password")

    assert [first.reveal(), cached.reveal(), later.reveal()] == ["hunter22", "hunter22", "hunter23"]


async def test_a_deleted_secret_is_not_there(vault: PlayedVault, clock: ManualClock) -> None:
    vault.secrets["secret/gone"] = None
    with pytest.raises(SecretNotFoundError, match="deleted"):
        await secrets(vault, clock).resolve("vault://gone")


async def test_the_token_is_renewed_at_half_of_its_time(vault: PlayedVault, clock: ManualClock) -> None:
    vault.ttl = 600
    found = secrets(vault, clock)
    for _ in range(6):
        await found.resolve("vault://smtp")
        await clock.advance(timedelta(seconds=101))

    assert [line for line in vault.heard if "token" in line] == [LOOKUP, RENEW]


async def test_a_token_that_never_ends_is_left_alone(vault: PlayedVault, clock: ManualClock) -> None:
    vault.ttl = 0
    found = secrets(vault, clock)
    for _ in range(3):
        await found.resolve("vault://smtp")
        await clock.advance(timedelta(days=40))

    assert RENEW not in vault.heard


async def test_a_token_file_is_read_every_time(
    vault: PlayedVault, clock: ManualClock, tmp_path: Path
) -> None:
    """Vault Agent writes a new token there before the old one ends."""
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    found = secrets(vault, clock, token=None, token_file=file)
    await found.resolve("vault://smtp")
    vault.tokens = {"hvs.another"}
    file.write_text("hvs.another")
    await clock.advance(timedelta(seconds=6))

    assert (await found.resolve("vault://smtp#username")).reveal() == "post"
    file.unlink()
    await clock.advance(timedelta(seconds=6))
    with pytest.raises(SecretStoreError, match="token can't be read"):
        await found.resolve("vault://smtp")


async def test_a_namespace_is_named(vault: PlayedVault, clock: ManualClock) -> None:
    vault.namespace = "team/mail"

    found = await secrets(vault, clock, namespace="team/mail").resolve("vault://smtp#username")

    assert found.reveal() == "post"


@pytest.mark.parametrize(
    ("status", "says"),
    [(503, "sealed"), (403, "token has run out"), (400, "version 2"), (307, "active node"), (500, "500")],
)
async def test_what_vault_refuses_is_said_in_words(
    vault: PlayedVault, clock: ManualClock, status: int, says: str
) -> None:
    found = secrets(vault, clock)
    await found.resolve("vault://smtp")
    await clock.advance(timedelta(seconds=6))
    vault.status = status
    with pytest.raises(SecretStoreError, match=says) as caught:
        await found.resolve("vault://smtp")

    assert "hunter22" not in f"{caught.value!r} {caught.value.__context__!r}"


async def test_a_vault_that_is_not_there(clock: ManualClock) -> None:
    with played_vault() as gone:
        pass
    with pytest.raises(SecretStoreError, match="can't be reached"):
        await secrets(gone, clock).resolve("vault://smtp")


async def test_tls_with_a_certificate_of_ones_own(clock: ManualClock, tmp_path: Path) -> None:
    made = make_certificate(tmp_path)
    with played_vault(made.server_context()) as vault:
        vault.secrets["secret/smtp"] = {"value": "hunter22"}
        trusted = await secrets(vault, clock, ca_file=made.cert_file).resolve("vault://smtp")
        with pytest.raises(SecretStoreError, match="certificate"):
            await secrets(vault, clock).resolve("vault://smtp")

    assert trusted.reveal() == "hunter22"


@pytest.mark.parametrize(
    "server",
    [
        {"url": "file:///etc/passwd", "token": Secret("x")},
        {"url": "vault.example", "token": Secret("x")},
        {"url": "https://vault.example"},
        {"url": "https://vault.example", "token": Secret("x"), "token_file": Path("x")},
        {"url": "https://vault.example", "token": Secret("x"), "ca_file": Path("/nowhere")},
    ],
)
def test_nonsense_is_refused_at_the_start(server: dict[str, object], clock: ManualClock) -> None:
    with pytest.raises(NotConfiguredError):
        VaultClient(VaultServer(**server), clock=clock)  # type: ignore[arg-type]
