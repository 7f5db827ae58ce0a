"""Guesses who is new: for them id, key and sealed values are made before anybody looks, and written in the trip that looks.

A guess that is wrong costs time and never a wrong row, because the database decides. To make what is not needed takes as
long as a round trip of a whole set: so who was seen lately is not new, and others are only where nearly all of them were.
"""

from typing import Final

from tidings.kernel.ids import TenantId

#: Whose identity it is, its type and its id.
IdentityKey = tuple[TenantId, str, str]

#: Of so many guesses the later ones count most.
_MEMORY: Final = 50
#: The share of newcomers among the unseen from which a guess pays.
_PAYS: Final = 0.8


class Newcomers:
    """Remembers the hashes of about so many identities, and how many of those that it had not seen were new."""

    def __init__(self, size: int = 32_768) -> None:
        self._half = max(1, size // 2)
        self._seen: set[int] = set()
        #: Those seen before the last `_half`: forgotten together.
        self._earlier: set[int] = set()
        self._share = 1.0

    def is_new(self, identity: IdentityKey) -> bool:
        """Whether to expect that nobody has this identity yet."""
        return self._share >= _PAYS and not self._has_seen(identity)

    def learn(self, identity: IdentityKey, *, was_new: bool) -> None:
        """This identity is there now; whether it was new is what guesses are made from."""
        if self._has_seen(identity):
            return
        self._share += (was_new - self._share) / _MEMORY
        self._seen.add(hash(identity))
        if len(self._seen) >= self._half:
            self._earlier, self._seen = self._seen, set()

    def _has_seen(self, identity: IdentityKey) -> bool:
        number = hash(identity)
        return number in self._seen or number in self._earlier
