"""The key file: private, whole, and shared by processes that change it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tidings.kernel.errors import NotConfiguredError
from tidings.kernel.keys.key_file import LocalKeyFileKms
from tidings.kernel.keys.kms import KmsError, UnknownMasterKeyError, open_kms


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys" / "master.json"


async def test_it_appears_at_first_use_and_is_private(file: Path) -> None:
    """Nobody else can read the file or enter its folder."""
    kms = LocalKeyFileKms(file)
    assert not file.exists()

    await kms.wrap(b"x", b"")

    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert [p.name for p in file.parent.iterdir() if p.suffix != ".lock"] == ["master.json"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
async def test_looser_permissions_are_refused(file: Path, mode: int) -> None:
    """A key file that others can read is not used, and the message says how to mend it."""
    kms = LocalKeyFileKms(file)
    await kms.wrap(b"x", b"")
    file.chmod(mode)

    with pytest.raises(KmsError, match="chmod 600"):
        await kms.wrap(b"x", b"")


async def test_a_folder_that_others_can_write_is_refused(file: Path) -> None:
    """Who can write to the folder can replace the file."""
    kms = LocalKeyFileKms(file)
    await kms.wrap(b"x", b"")
    file.parent.chmod(0o777)

    with pytest.raises(KmsError, match="chmod 700"):
        await kms.wrap(b"x", b"")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}",
        "[1]",
        "not json",
        '{"format": 2}',
        '{"format": 1}',
        '{"format": 1, "wrapping": [], "signing": []}',
        '{"format": 1, "wrapping": [{"id": "a", "key": "secretpart"}], "signing": []}',
        '{"format": 1, "wrapping": [{"id": "a", "key": 7}], "signing": []}',
    ],
)
async def test_a_damaged_file_is_named_and_not_quoted(file: Path, content: str) -> None:
    """The message names the file; nothing of what is inside gets out, and nothing is overwritten."""
    file.parent.mkdir(mode=0o700)
    file.write_text(content)
    file.chmod(0o600)

    with pytest.raises(KmsError) as caught:
        await LocalKeyFileKms(file).wrap(b"x", b"")

    assert str(file) in str(caught.value)
    assert "secretpart" not in repr(caught.value)
    assert file.read_text() == content


async def test_a_rotation_elsewhere_is_noticed(file: Path) -> None:
    """A process that loaded the file earlier uses the new key at once."""
    running, command = LocalKeyFileKms(file), LocalKeyFileKms(file)
    token = await running.wrap(b"x", b"")

    new_id = await command.rotate()

    assert running.key_id_of(await running.wrap(b"y", b"")) == new_id
    assert await command.unwrap(token, b"") == b"x"


async def test_a_failed_write_leaves_the_old_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fails in the middle of a rotation loses no key."""
    kms = LocalKeyFileKms(file)
    token = await kms.wrap(b"x", b"")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(KmsError, match="No space left"):
            await kms.rotate()

    assert await LocalKeyFileKms(file).unwrap(token, b"") == b"x"
    assert len(json.loads(file.read_text())["wrapping"]) == 1
    assert [p.name for p in file.parent.iterdir() if p.suffix != ".lock"] == ["master.json"]


def test_processes_that_start_together_agree(file: Path) -> None:
    """Several first uses at once make one key, and several rotations at once lose none."""
    script = (
        "import asyncio, pathlib, sys\n"
        "from tidings.kernel.keys.key_file import LocalKeyFileKms\n"
        "kms = LocalKeyFileKms(pathlib.Path(sys.argv[1]))\n"
        "asyncio.run(kms.wrap(b'x', b''))\n"
        "asyncio.run(kms.rotate())\n"
    )
    started = [subprocess.Popen([sys.executable, "-c", script, str(file)]) for _ in range(4)]
    assert [process.wait(timeout=60) for process in started] == [0, 0, 0, 0]

    content = json.loads(file.read_text())
    assert len(content["wrapping"]) == 5
    assert len({entry["id"] for entry in content["wrapping"]}) == 5


async def test_an_old_entry_can_be_taken_out(file: Path) -> None:
    """What the newer keys wrapped goes on opening, and the next rotation gives no number twice."""
    kms = LocalKeyFileKms(file)
    old = await kms.wrap(b"old", b"")
    await kms.rotate()
    new = await kms.wrap(b"new", b"")
    content = json.loads(file.read_text())
    del content["wrapping"][0]
    file.write_text(json.dumps(content))

    for reader in (kms, LocalKeyFileKms(file)):
        assert await reader.unwrap(new, b"") == b"new"
        with pytest.raises(UnknownMasterKeyError):
            await reader.unwrap(old, b"")
    await kms.rotate()

    assert [entry["id"].partition("-")[0] for entry in json.loads(file.read_text())["wrapping"]] == [
        "mk2",
        "mk3",
    ]
    assert await kms.unwrap(new, b"") == b"new"


async def test_asking_for_a_lost_key_makes_no_file(file: Path) -> None:
    """A start without the key file, or in the wrong folder, leaves nothing behind that looks like a key."""
    other = LocalKeyFileKms(file.with_name("other.json"))
    token, signature = await other.wrap(b"x", b""), await other.sign(b"x")
    kms = LocalKeyFileKms(file)

    with pytest.raises(UnknownMasterKeyError):
        await kms.unwrap(token, b"")
    assert not await kms.verify(b"x", signature)

    assert not file.exists()


async def test_a_file_that_vanishes_is_not_made_anew(file: Path) -> None:
    """A process that has used it stops and says so; a new key would be lost when the right file comes back."""
    kms = LocalKeyFileKms(file)
    token = await kms.wrap(b"x", b"")
    backup = file.rename(file.with_name("backup"))

    with pytest.raises(KmsError, match="is gone; restore it"):
        await kms.wrap(b"y", b"")
    assert not file.exists()

    backup.rename(file)
    assert await kms.unwrap(token, b"") == b"x"


async def test_another_installations_file_is_not_taken_for_ours(file: Path, tmp_path: Path) -> None:
    """Put in place of ours while we run, it is refused until ours is back."""
    kms, stranger = LocalKeyFileKms(file), LocalKeyFileKms(tmp_path / "other" / "master.json")
    token = await kms.wrap(b"x", b"")
    await stranger.wrap(b"x", b"")
    backup = file.rename(file.with_name("backup"))
    (tmp_path / "other" / "master.json").rename(file)

    with pytest.raises(KmsError, match="was replaced"):
        await kms.wrap(b"y", b"")

    backup.rename(file)
    assert await kms.unwrap(token, b"") == b"x"


async def test_what_a_killed_rotation_left_is_cleared_away(file: Path) -> None:
    """A half-written copy of the keys does not lie around for ever."""
    kms = LocalKeyFileKms(file)
    await kms.wrap(b"x", b"")
    left = file.with_name(".master.json.new")
    left.write_text("half of a key fi")

    await kms.rotate()

    assert not left.exists()
    assert file.stat().st_mode & 0o777 == 0o600


async def test_others_can_verify_with_the_public_key(file: Path) -> None:
    """A receipt needs no secret to be checked."""
    kms = LocalKeyFileKms(file)
    signature = await kms.sign(b"receipt")
    ((key_id, raw),) = kms.public_keys().items()

    assert key_id.encode() in signature
    Ed25519PublicKey.from_public_bytes(raw).verify(signature[-64:], b"receipt")


async def test_nothing_prints_the_keys(file: Path) -> None:
    """A repr names the file only."""
    kms = LocalKeyFileKms(file)
    await kms.wrap(b"x", b"")
    keys = [entry["key"] for part in ("wrapping", "signing") for entry in json.loads(file.read_text())[part]]

    shown = f"{kms!r} {kms} {vars(kms)}"
    assert not any(key in shown for key in keys)


def test_it_is_found_by_url(tmp_path: Path) -> None:
    """A file URL opens the key file, spaces and all."""
    assert (
        repr(open_kms((tmp_path / "my keys" / "m.json").as_uri()))
        == f"LocalKeyFileKms({tmp_path}/my keys/m.json)"
    )


@pytest.mark.parametrize(
    "url",
    [
        "",
        "vault://host/transit",
        "awskms://alias/x",
        "/etc/master.json",
        "file://host/x",
        "file://x",
        "file:x",
    ],
)
def test_other_urls_are_refused(url: str) -> None:
    """What is not supported is refused by naming what is."""
    with pytest.raises(NotConfiguredError, match="file:///path"):
        open_kms(url)
