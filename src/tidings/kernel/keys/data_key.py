"""A subject's key as its holder sees it: seals with the newest version, opens what any living version sealed."""

from collections.abc import Mapping

from tidings.kernel.errors import TidingsError
from tidings.kernel.keys.ciphers import Key, UnreadableError, associate, key_version_of, seal, unseal


class DestroyedKeyError(TidingsError):
    """The key was destroyed; what it sealed can't be read any more."""

    code = "destroyed_key"


class DataKey:
    """The versions of one subject's key. Hold it for one set of work and let it go: destruction counts at once.

    Read the rows first and their keys after, in the same transaction: a subject's key can be rotated in between,
    and a newer version opens older rows while the older version is still there.
    """

    __slots__ = ("_current", "_highest", "_keys", "subject_id", "tenant_id")

    def __init__(self, tenant_id: str, subject_id: str, keys: Mapping[int, Key], highest: int) -> None:
        #: Whose subject; bound into every box.
        self.tenant_id = tenant_id
        #: Whose key: the subject's id; bound into every box.
        self.subject_id = subject_id
        self._keys = dict(keys)
        self._highest = highest
        self._current = self._keys.get(highest)

    @property
    def destroyed(self) -> bool:
        """Whether the subject was erased."""
        return self._current is None

    @property
    def version(self) -> int:
        """The version that seals; the highest ever made, if all are destroyed."""
        return self._highest

    @property
    def versions(self) -> tuple[int, ...]:
        """The versions that still open boxes, oldest first."""
        return tuple(sorted(self._keys))

    def seal(self, plaintext: bytes, purpose: str) -> bytes:
        """A box that only this subject's key opens, and only for this purpose (`address:email`, `body`)."""
        if self._current is None:
            raise DestroyedKeyError(
                f"the key of {self.subject_id} was destroyed; nothing can be sealed with it"
            )
        return seal(self._current, plaintext, associate(self.tenant_id, self.subject_id, purpose))

    def unseal(self, box: bytes, purpose: str) -> bytes:
        """What is inside; a `DestroyedKeyError` once the key is gone, an `UnreadableError` for a wrong box."""
        version = key_version_of(box)
        key = self._keys.get(version)
        if key is None and version <= self._highest:
            raise DestroyedKeyError(
                f"version {version} of the key of {self.subject_id} was destroyed; this can't be read any more"
            )
        if key is None:
            raise UnreadableError(
                f"the box of {self.subject_id} needs version {version} of its key; load it again"
            )
        return unseal(key, box, associate(self.tenant_id, self.subject_id, purpose))

    def __repr__(self) -> str:
        return f"DataKey({self.subject_id}, versions={self.versions}, ***)"

    def __reduce__(self) -> str:
        raise TypeError("a key is never pickled")
