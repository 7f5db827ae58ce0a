"""The places that secrets are read from, as the settings name them."""

from tidings.kernel.clock import Clock
from tidings.kernel.secrets import EnvSecrets, FileSecrets, SecretResolver, SecretsByScheme
from tidings.kernel.secrets_vault import VaultSecrets
from tidings.kernel.secrets_vault_client import VaultClient, VaultServer
from tidings.router.sealed_secrets.resolve import SealedSecrets
from tidings.settings import (
    Settings,
    VaultSettings,
    secret_environment,
)


def open_vault(chosen: VaultSettings, clock: Clock) -> VaultClient | None:
    if chosen.url is None:
        return None
    server = VaultServer(
        url=chosen.url,
        token=chosen.token,
        token_file=chosen.token_file,
        namespace=chosen.namespace,
        ca_file=chosen.ca_file,
    )
    return VaultClient(server, clock=clock)


def open_secrets(
    settings: Settings, vault: VaultClient | None, clock: Clock, entered: SealedSecrets
) -> SecretsByScheme:
    known: dict[str, SecretResolver] = {
        "file": FileSecrets(settings.secrets_dir()),
        "env": EnvSecrets(secret_environment()),
        "sealed": entered,
    }
    if vault is not None:
        chosen = settings.vault
        known["vault"] = VaultSecrets(vault, clock=clock, mount=chosen.mount, tenants=chosen.tenants)
    return SecretsByScheme(known)
