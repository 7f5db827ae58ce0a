"""Master keys in a file that only we may read: the embedded Kms.

    {"format": 1,
     "wrapping": [{"id": "mk1-5f0c…", "key": "base64", "created_at": "…"}, …],     the last one is in use
     "signing":  [{"id": "sk1-91ab…", "key": "base64", "created_at": "…"}, …]}     Ed25519 seeds

The file appears at its first use. Every change writes a new file beside it and moves it into place, so a
crash leaves the old one or the new one. Other processes notice a change by the file's identity and read it again.
A process that has used the file never goes on with another: what it wrapped meanwhile would be lost with it as
soon as the right file comes back from its backup.
"""

import base64
import fcntl
import json
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tidings.kernel.clock import Clock, SystemClock
from tidings.kernel.keys.ciphers import KEY_BYTES, Key, UnreadableError, seal, unseal
from tidings.kernel.keys.kms import MAX_WRAPPED_BYTES, KmsError, UnknownMasterKeyError

_FORMAT = 1
_TOKEN_FORMAT = 1
_SIGNATURE_BYTES = 64
_ID = re.compile(r"(?:mk|sk)(\d{1,9})-[0-9a-f]{8}")


@dataclass(frozen=True, slots=True, repr=False)
class _Keys:
    """The file's content, read."""

    wrapping: dict[str, Key]
    signing: dict[str, Ed25519PrivateKey]
    current: str
    signer: str


class LocalKeyFileKms:
    """Keeps the master keys in one file, mode 600."""

    def __init__(self, file: Path, *, clock: Clock | None = None) -> None:
        self._file = file
        self._clock = clock or SystemClock()
        self._seen: tuple[int, int, int] | None = None
        self._loaded: _Keys | None = None

    async def wrap(self, plaintext: bytes, aad: bytes) -> bytes:
        """A token that only this file's keys turn back."""
        if len(plaintext) > MAX_WRAPPED_BYTES:
            raise KmsError(f"only {MAX_WRAPPED_BYTES} bytes can be wrapped; seal the rest with a data key")
        keys = self._keys()
        return _named(keys.current, seal(keys.wrapping[keys.current], plaintext, aad))

    async def unwrap(self, token: bytes, aad: bytes) -> bytes:
        """What was wrapped."""
        key_id, box = _split(token)
        key = self._keys().wrapping.get(key_id) if self._is_there() else None
        if key is None:
            raise UnknownMasterKeyError
        return unseal(key, box, aad)

    def key_id_of(self, token: bytes) -> str:
        """Which master key made the token."""
        return _split(token)[0]

    async def current_key_id(self) -> str:
        """Which master key wraps now."""
        return self._keys().current

    async def rotate(self) -> str:
        """Add a new wrapping and a new signing key; the old ones stay, for what they made."""
        self._keys()
        with self._alone():
            content = self._read()
            self._extend(content)
            self._replace(content)
        return self._keys().current

    async def sign(self, message: bytes) -> bytes:
        """An Ed25519 signature that names the key that made it."""
        keys = self._keys()
        return _named(keys.signer, keys.signing[keys.signer].sign(message))

    async def verify(self, message: bytes, signature: bytes) -> bool:
        """Whether one of the file's keys signed exactly this."""
        try:
            key_id, raw = _split(signature)
        except UnreadableError:
            return False
        key = self._keys().signing.get(key_id) if self._is_there() else None
        if key is None or len(raw) != _SIGNATURE_BYTES:
            return False
        try:
            key.public_key().verify(raw, message)
        except InvalidSignature:
            return False
        return True

    def public_keys(self) -> dict[str, bytes]:
        """The raw Ed25519 public keys by id, for those who verify receipts without us."""
        return {key_id: key.public_key().public_bytes_raw() for key_id, key in self._keys().signing.items()}

    def __repr__(self) -> str:
        return f"LocalKeyFileKms({self._file})"

    def _is_there(self) -> bool:
        """Whether there is anything to ask: looking for a lost key must not make a new file."""
        return self._loaded is not None or self._file.exists()

    def _keys(self) -> _Keys:
        try:
            self._check_permissions()
        except FileNotFoundError:
            if self._loaded is not None:
                raise KmsError(f"{self._file} is gone; restore it from its backup") from None
            self._create()
            self._check_permissions()
        found = self._file.stat()
        identity = (found.st_ino, found.st_mtime_ns, found.st_size)
        if self._loaded is None or identity != self._seen:
            fresh = _parse(self._read(), self._file)
            if self._loaded is not None and self._loaded.wrapping.keys().isdisjoint(fresh.wrapping):
                raise KmsError(
                    f"{self._file} was replaced by one without any of the keys in use; "
                    "restore the right one from its backup"
                )
            self._loaded = fresh
            self._seen = identity
        return self._loaded

    def _check_permissions(self) -> None:
        mode = stat.S_IMODE(self._file.stat().st_mode)
        if mode & 0o077:
            raise KmsError(
                f"{self._file} may be read by others (mode {mode:o}); make it yours alone: "
                f"chmod 600 {self._file}"
            )
        folder = stat.S_IMODE(self._file.parent.stat().st_mode)
        if folder & 0o022:
            raise KmsError(
                f"{self._file.parent} may be written by others (mode {folder:o}), who could replace the key; "
                f"chmod 700 {self._file.parent}"
            )

    def _read(self) -> dict[str, Any]:
        try:
            content = json.loads(self._file.read_bytes())
        except ValueError:
            content = None
        except OSError as error:
            raise KmsError(f"{self._file} can't be read: {error.strerror}") from None
        if not isinstance(content, dict) or content.get("format") != _FORMAT:
            raise KmsError(
                f"{self._file} is not a key file that this release can read; restore it from a backup"
            )
        return content

    def _create(self) -> None:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise KmsError(f"{self._file.parent} can't be made: {error.strerror}") from None
        with self._alone():
            if self._file.exists():
                return  # another process was first
            content: dict[str, Any] = {"format": _FORMAT, "wrapping": [], "signing": []}
            self._extend(content)
            self._replace(content)
            # The folder may be new as well, and the database will hold what only this file opens.
            _sync_folder(self._file.parent.parent)

    def _extend(self, content: dict[str, Any]) -> None:
        now = self._clock.now().isoformat()
        for name, prefix in (("wrapping", "mk"), ("signing", "sk")):
            entries: list[dict[str, str]] = content[name]
            number = max((_number(entry["id"]) for entry in entries), default=0) + 1
            entries.append(
                {
                    # The random part tells two files apart that were both made from nothing.
                    "id": f"{prefix}{number}-{secrets.token_hex(4)}",
                    "key": base64.b64encode(os.urandom(KEY_BYTES)).decode("ascii"),
                    "created_at": now,
                }
            )

    def _replace(self, content: dict[str, Any]) -> None:
        # Always the same name, and we are alone: what a killed predecessor left holds keys and goes away here.
        draft = self._file.with_name(f".{self._file.name}.new")
        try:
            draft.unlink(missing_ok=True)
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as out:
                json.dump(content, out, indent=2)
                out.write("\n")
                out.flush()
                os.fsync(out.fileno())
            draft.replace(self._file)
            _sync_folder(self._file.parent)
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise KmsError(f"{self._file} can't be written: {error.strerror}") from None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Only one process at a time changes the file; the operating system lets go if we die."""
        lock = self._file.with_name(f".{self._file.name}.lock")
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise KmsError(f"{lock} can't be opened: {error.strerror}") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _parse(content: dict[str, Any], file: Path) -> _Keys:
    try:
        # The number comes from the id and not from the place: an operator may take old entries out.
        wrapping = {
            entry["id"]: Key(_number(entry["id"]), base64.b64decode(entry["key"], validate=True))
            for entry in content["wrapping"]
        }
        signing = {
            entry["id"]: Ed25519PrivateKey.from_private_bytes(base64.b64decode(entry["key"], validate=True))
            for entry in content["signing"]
        }
        return _Keys(wrapping=wrapping, signing=signing, current=list(wrapping)[-1], signer=list(signing)[-1])
    except (ValueError, KeyError, TypeError, IndexError):
        pass
    # Raised outside the handler: the cause would quote what it could not decode.
    raise KmsError(f"{file} is damaged; restore it from a backup")


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _number(key_id: str) -> int:
    found = _ID.fullmatch(key_id)
    if found is None:
        raise ValueError("not the id of a key")
    return int(found[1])


def _named(key_id: str, body: bytes) -> bytes:
    name = key_id.encode("ascii")
    return bytes((_TOKEN_FORMAT, len(name))) + name + body


def _split(token: bytes) -> tuple[str, bytes]:
    if len(token) < 2 or token[0] != _TOKEN_FORMAT or len(token) < 2 + token[1]:
        raise UnreadableError("the token was not made by a key file")
    end = 2 + token[1]
    return token[2:end].decode("ascii", "replace"), token[end:]
