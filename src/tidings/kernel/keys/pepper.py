"""The pepper: the secret key of a keyed hash (HMAC-SHA256), one per tenant and one for the platform."""

import hmac


class Pepper:
    """Hashes texts that must be findable and never readable; it never prints, and never changes."""

    __slots__ = ("_material",)

    def __init__(self, material: bytes) -> None:
        self._material = material

    def hash(self, text: str) -> str:
        """`sha256:` and 64 hex digits of HMAC-SHA256: 71 characters."""
        return "sha256:" + hmac.digest(self._material, text.encode("utf-8", "surrogatepass"), "sha256").hex()

    def __repr__(self) -> str:
        return "Pepper(***)"

    def __reduce__(self) -> str:
        raise TypeError("a pepper is never pickled")
