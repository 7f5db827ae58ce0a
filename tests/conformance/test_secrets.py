"""What every resolver of secrets promises, asked of each."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.vault import TOKEN as VAULT_TOKEN
from tests.support.vault import played_vault
from tidings.kernel.clock import SystemClock
from tidings.kernel.errors import BadValueError, NotConfiguredError, TidingsError
from tidings.kernel.secrets import (
    EnvSecrets,
    FileSecrets,
    Secret,
    SecretNotFoundError,
    SecretResolver,
    SecretsByScheme,
)
from tidings.kernel.secrets_vault import VaultSecrets
from tidings.kernel.secrets_vault_client import VaultClient, VaultServer

TEXT = "hunter22-of-the-operator"


@dataclass
class Case:
    resolver: SecretResolver
    good: str
    missing: str
    empty: str
    hostile: list[str]
    stop: Callable[[], object] = lambda: None


def file_case(folder: Path) -> Case:
    base = folder / "secrets"
    (base / "smtp").mkdir(parents=True)
    (base / "smtp" / "password").write_text(f"{TEXT}\n")
    (base / "empty").write_text("\n")
    (folder / "outside").write_text("hunter22-outside")
    (base / "link-out").symlink_to(folder / "outside")
    (base / "loop").symlink_to(base / "loop")
    (base / "folder-out").symlink_to(folder)
    (base / "binary").write_bytes(b"\xff\xfe\x00hunter22")
    (base / "huge").write_text("hunter22" * 10_000)
    hostile = [
        "file://../outside", "file:///../outside", f"file://{folder}/outside", f"file://{base}/../outside",
        "file://smtp/../../outside", "file://./smtp/password", "file://smtp//password", "file:///etc/passwd",
        "file://link-out", "file://folder-out/outside", "file://loop", "file://smtp", "file://binary", "file://huge",
        "file://smtp%2fpassword", "file://smtp\\password", "file://smtp/password?x", "file://smtp/password#x",
        "file://smtp/password\x00.txt", "file://" + "a/" * 400, "file://" + "a" * 400, "file://", "file:", "",
        "FILE://smtp/password", "hunter22", "//smtp/password", f"file://{base}",
    ]  # fmt: skip
    return Case(FileSecrets(base), "file://smtp/password", "file://nothing", "file://empty", hostile)


def env_case(_: Path) -> Case:
    environment = {
        "TIDINGS_SECRET_SMTP": TEXT,
        "TIDINGS_SECRET_EMPTY": "",
        "PATH": "hunter22",
        "HOME": "hunter22",
    }
    hostile = [
        "env://PATH", "env://HOME", "env://TIDINGS_DATABASE_URL", "env://tidings_secret_smtp", "env://", "env:", "",
        "env://TIDINGS_SECRET_SMTP=x", "env://TIDINGS_SECRET_SMTP/../PATH", "env:// TIDINGS_SECRET_SMTP",
        "env://TIDINGS_SECRET_SMTP\x00", "env://%50ATH", "hunter22", "env://TIDINGS_SECRET_" + "A" * 600,
    ]  # fmt: skip
    return Case(
        EnvSecrets(environment),
        "env://TIDINGS_SECRET_SMTP",
        "env://TIDINGS_SECRET_X",
        "env://TIDINGS_SECRET_EMPTY",
        hostile,
    )


def both_case(folder: Path) -> Case:
    file, env = file_case(folder), env_case(folder)
    resolver = SecretsByScheme({"file": file.resolver, "env": env.resolver})
    return Case(
        resolver, file.good, env.missing, file.empty, [*file.hostile, *env.hostile, "vault://x", "https://x"]
    )


def vault_case(_: Path) -> Case:
    stack = ExitStack()
    vault = stack.enter_context(played_vault())
    vault.secrets |= {
        "secret/smtp": {"password": TEXT},
        "secret/empty": {"value": ""},
        "secret/none": {},
        "secret/list": {"value": "hunter22" * 10_000},
        "sys/hunter22": {"value": "hunter22"},
    }
    clock = SystemClock()
    client = VaultClient(VaultServer(url=vault.url, token=Secret(VAULT_TOKEN)), clock=clock)
    hostile = [
        "vault://../sys/hunter22", "vault:///sys/hunter22", "vault://smtp/../smtp", "vault://./smtp", "vault://smtp//x",
        "vault://smtp/", "vault://smtp%2fx", "vault://smtp?version=1", "vault://smtp#", "vault://smtp#a#b", "vault://",
        "vault://smtp#other", "vault://list", "vault://none", "vault:", "", "hunter22", "vault://smtp\\x",
        "vault://smtp#pass\x00word", "vault://smtp\x00", "vault://" + "a" * 600, "VAULT://smtp", "file://smtp",
    ]  # fmt: skip
    return Case(
        VaultSecrets(client, clock=clock),
        "vault://smtp#password",
        "vault://nothing",
        "vault://empty",
        hostile,
        stack.close,
    )


@pytest.fixture(
    params=[file_case, env_case, both_case, vault_case], ids=["file", "env", "by scheme", "vault"]
)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Case]:
    made: Case = request.param(tmp_path)
    yield made
    made.stop()


async def test_a_reference_gives_its_secret(case: Case) -> None:
    """Without the line break that every editor adds."""
    assert (await case.resolver.resolve(case.good)).reveal() == TEXT


async def test_missing_and_empty_are_not_found(case: Case) -> None:
    """An empty password is a mistake, not a password."""
    for ref in (case.missing, case.empty):
        with pytest.raises(SecretNotFoundError, match="smtp_ref"):
            await case.resolver.resolve(ref, field="smtp_ref")


async def test_hostile_references_give_nothing(case: Case) -> None:
    """Each is refused; neither a secret nor the reference is in the refusal."""
    for ref in case.hostile:
        with pytest.raises((BadValueError, SecretNotFoundError, NotConfiguredError)) as caught:
            await case.resolver.resolve(ref)
        told = f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"
        assert "hunter22" not in told, ref
        assert isinstance(caught.value, TidingsError)
