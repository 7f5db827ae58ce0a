"""Secrets that don't print, and tenants that can't read each other's."""

import copy
import dataclasses
import json
import logging
import pickle
from pathlib import Path

import msgspec
import pytest

from tests.support.clock import ManualClock
from tidings.kernel.errors import BadValueError, NotConfiguredError
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.secrets import EnvSecrets, FileSecrets, Secret, SecretNotFoundError, SecretsByScheme

NOW = ManualClock().now()
OURS, THEIRS = TENANT.new(NOW), TENANT.new(NOW)


@dataclasses.dataclass
class Holder:
    secret: Secret


def test_a_secret_shows_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    """Printing, formatting, logging and serialising all give stars or refuse."""
    secret = Secret("hunter22")
    with caplog.at_level(logging.INFO):
        logging.getLogger("test").info("the secret is %s, %r", secret, secret)

    shown = [
        repr(secret), str(secret), f"{secret}", f"{secret!r:>20}", "{:>12}".format(secret), "%s" % secret,  # noqa: UP031, UP032
        caplog.text, repr(Holder(secret)), str(dataclasses.asdict(Holder(secret))), repr([secret]), repr({"a": secret}),
        json.dumps({"a": secret}, default=str), str(dir(secret)),
    ]  # fmt: skip
    assert not any("hunter22" in text for text in shown)
    assert '"***"' in json.dumps(secret, default=str)
    for refuse in (json.dumps, msgspec.json.encode, pickle.dumps):
        with pytest.raises(TypeError) as caught:
            refuse(secret)
        assert "hunter22" not in str(caught.value)
    with pytest.raises(TypeError):
        vars(secret)
    assert secret.reveal() == "hunter22"
    assert copy.deepcopy(secret) is copy.copy(secret) is secret


def test_secrets_compare() -> None:
    """Two with the same text are the same; a plain text is never equal."""
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert Secret("\ud800") == Secret("\ud800")
    assert len({Secret("a"), Secret("a")}) == 1
    assert not Secret("")


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for tenant, text in ((OURS, "ours"), (THEIRS, "theirs")):
        (tmp_path / "secrets" / tenant).mkdir(parents=True)
        (tmp_path / "secrets" / tenant / "password").write_text(text)
    (tmp_path / "secrets" / "platform").write_text("platform")
    return tmp_path / "secrets"


async def test_a_tenant_reads_its_own_folder(base: Path) -> None:
    """By a relative name, or by the whole path."""
    secrets = FileSecrets(base)

    assert (await secrets.resolve("file://password", tenant_id=OURS)).reveal() == "ours"
    assert (await secrets.resolve(f"file://{base}/{OURS}/password", tenant_id=OURS)).reveal() == "ours"
    assert (await secrets.resolve(f"file://{THEIRS}/password")).reveal() == "theirs"


async def test_a_tenant_that_lies_reads_nothing(base: Path) -> None:
    """Not another's secret, not the platform's, by no spelling and no link."""
    (base / OURS / "to-theirs").symlink_to(base / THEIRS / "password")
    (base / OURS / "to-folder").symlink_to(base / THEIRS)
    (base / OURS / "to-platform").symlink_to("../platform")
    secrets = SecretsByScheme(
        {"file": FileSecrets(base), "env": EnvSecrets({"TIDINGS_SECRET_A": "platform"})}
    )
    lies = [
        f"file://{base}/{THEIRS}/password", f"file://../{THEIRS}/password", f"file://{base}/platform",
        f"file://{base}/{OURS}/../{THEIRS}/password", "file://to-theirs", "file://to-folder/password",
        "file://to-platform", "file://../platform", f"file://{THEIRS}/password", "env://TIDINGS_SECRET_A",
        f"file://{base}/{OURS}X/password", f"file://{base}/{OURS}",
    ]  # fmt: skip

    for lie in lies:
        with pytest.raises((BadValueError, SecretNotFoundError)):
            await secrets.resolve(lie, tenant_id=OURS)


async def test_a_linked_tenant_folder_is_not_followed(base: Path) -> None:
    """A folder in a tenant's name that is really another's gives nothing."""
    liar = TENANT.new(NOW)
    (base / liar).symlink_to(base / THEIRS)

    with pytest.raises(SecretNotFoundError):
        await FileSecrets(base).resolve("file://password", tenant_id=liar)


@pytest.mark.parametrize("tenant", ["", "..", "../..", "/", "tnt_x", "."])
async def test_a_tenant_that_is_no_id_is_refused(base: Path, tenant: str) -> None:
    """The folder is never built from something else."""
    with pytest.raises(BadValueError, match="tenant_id"):
        await FileSecrets(base).resolve("file://platform", tenant_id=TenantId(tenant))


async def test_links_inside_the_folder_are_followed(base: Path) -> None:
    """Mounted secrets are links to a folder that is swapped when they change."""
    (base / "..2026").mkdir()
    (base / "..2026" / "token").write_text("mounted")
    (base / "..data").symlink_to("..2026")
    (base / "token").symlink_to("..data/token")

    assert (await FileSecrets(base).resolve("file://token")).reveal() == "mounted"


async def test_a_base_that_is_a_link_works(base: Path, tmp_path: Path) -> None:
    """/run is often a link; paths may be written either way."""
    (tmp_path / "alias").symlink_to(base)
    secrets = FileSecrets(tmp_path / "alias")

    assert (await secrets.resolve(f"file://{tmp_path}/alias/platform")).reveal() == "platform"
    assert (await secrets.resolve(f"file://{base}/platform")).reveal() == "platform"


async def test_an_unknown_scheme_names_the_supported_ones() -> None:
    """And not what was written, which may be the secret itself."""
    with pytest.raises(NotConfiguredError, match=r"env://, file://") as caught:
        await SecretsByScheme({"file": FileSecrets(Path("/x")), "env": EnvSecrets({})}).resolve(
            "hunter22://x"
        )

    assert "hunter22" not in str(caught.value)
