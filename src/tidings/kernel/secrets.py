"""Secrets that don't print, and the port that finds them by reference.

An operator's reference is `env://TIDINGS_SECRET_…`, `file://…` below one base folder, or `vault://…`
(`kernel.secrets_vault`). A tenant's can only be `file://…` below `<base>/<tenant id>/`, or `vault://…` below the
like: whatever it claims, it reads no other tenant's. `sealed://…` is what the owner entered over the API. The reference itself is never quoted in an error, because people
paste the secret where the reference belongs.
"""

import asyncio
import hmac
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from tidings.kernel.errors import BadValueError, NotConfiguredError, TidingsError
from tidings.kernel.ids import TENANT, TenantId

MAX_SECRET_BYTES = 64 * 1024
MAX_REFERENCE_CHARACTERS = 512
ENV_PREFIX = "TIDINGS_SECRET_"


class Secret:
    """A text that shows as *** wherever it is printed; `reveal()` gives it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself: hand it only to the code that needs it."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(***)"

    def __str__(self) -> str:
        return "***"

    def __format__(self, _: str) -> str:
        return "***"

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        mine, theirs = (text.encode("utf-8", "surrogatepass") for text in (self._text, other._text))
        return hmac.compare_digest(mine, theirs)

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __copy__(self) -> "Secret":
        return self

    def __deepcopy__(self, _: object) -> "Secret":
        return self

    def __reduce__(self) -> str:
        raise TypeError("a secret is never pickled")


class SecretNotFoundError(TidingsError):
    """There is no secret behind this reference, or it can't be read."""

    code = "secret_not_found"


class SecretStoreError(TidingsError):
    """The secret can't be asked for right now: its store does not answer, or does not let us read."""

    code = "secret_store"


class SecretResolver(Protocol):
    """Finds the secret behind a reference."""

    async def resolve(
        self, ref: str, *, tenant_id: TenantId | None = None, field: str = "secret_ref"
    ) -> Secret:
        """The secret; with a `tenant_id`, only if the reference is that tenant's own."""
        ...


class EnvSecrets:
    """`env://TIDINGS_SECRET_SMTP`: the operator's, out of the environment that was passed in."""

    def __init__(self, environment: Mapping[str, str], *, prefix: str = ENV_PREFIX) -> None:
        self._environment = environment
        self._prefix = prefix

    async def resolve(
        self, ref: str, *, tenant_id: TenantId | None = None, field: str = "secret_ref"
    ) -> Secret:
        """The variable's value; only names with the agreed prefix can be asked for."""
        if tenant_id is not None:
            raise BadValueError(
                field, "must be a sealed://, file:// or vault:// reference: env:// is for the operator"
            )
        name = after_scheme(ref, "env", field)
        if not name.startswith(self._prefix) or not (name.isascii() and name.isidentifier()):
            raise BadValueError(field, f"must name a variable that begins with {self._prefix}")
        value = self._environment.get(name)
        if not value:
            raise SecretNotFoundError(f"{field}: the environment has no such variable, or it is empty")
        return Secret(value)


class FileSecrets:
    """`file://smtp/password` or `file:///base/smtp/password`: files below one folder."""

    def __init__(self, base: Path) -> None:
        self._base = base

    async def resolve(
        self, ref: str, *, tenant_id: TenantId | None = None, field: str = "secret_ref"
    ) -> Secret:
        """The file's text without its last line break."""
        path = after_scheme(ref, "file", field)
        return await asyncio.to_thread(self._read, path, tenant_id, field)

    def _read(self, path: str, tenant_id: TenantId | None, field: str) -> Secret:
        base = self._base.resolve()
        root = base if tenant_id is None else base / TENANT.parse(tenant_id, field="tenant_id")
        wanted = self._inside(path, base, root, field)
        try:
            # Links may be followed (mounted secrets are links), but not out of the folder.
            real = wanted.resolve(strict=True)
            if not real.is_relative_to(root):
                raise FileNotFoundError
            content = _read_regular(real)
        except (OSError, RuntimeError):
            content = None
        if content is None:
            raise SecretNotFoundError(
                f"{field}: there is no such file in the secrets folder, or it can't be read"
            )
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            text = ""
        text = text.removesuffix("\n").removesuffix("\r")
        if not text or len(content) > MAX_SECRET_BYTES:
            raise SecretNotFoundError(
                f"{field}: the file is empty, no text, or over {MAX_SECRET_BYTES} bytes"
            )
        return Secret(text)

    def _inside(self, path: str, base: Path, root: Path, field: str) -> Path:
        segments = path.split("/")
        if any(segment in {"", ".", ".."} for segment in segments[path.startswith("/") :]):
            raise BadValueError(field, "must be a plain path, without empty, . or .. parts")
        if not path.startswith("/"):
            return root / path
        for folder in (self._base.absolute(), base):
            if Path(path).is_relative_to(folder):
                wanted = base / Path(path).relative_to(folder)
                if wanted.is_relative_to(root):
                    return wanted
        raise BadValueError(field, "must lie in the secrets folder that is the owner's own")


class SecretsByScheme:
    """Asks the resolver that the reference's scheme names."""

    def __init__(self, resolvers: Mapping[str, SecretResolver]) -> None:
        self._resolvers = dict(resolvers)

    async def resolve(
        self, ref: str, *, tenant_id: TenantId | None = None, field: str = "secret_ref"
    ) -> Secret:
        """The secret; a scheme without a resolver is a `NotConfiguredError`."""
        resolver = self._resolvers.get(ref.partition("://")[0]) if "://" in ref else None
        if resolver is None:
            supported = ", ".join(f"{scheme}://" for scheme in sorted(self._resolvers)) or "none"
            raise NotConfiguredError(f"{field} must use a scheme that is set up here; supported: {supported}")
        return await resolver.resolve(ref, tenant_id=tenant_id, field=field)


def after_scheme(ref: str, scheme: str, field: str) -> str:
    """What stands behind `scheme://`, if it is plain enough to be a name."""
    rest = ref.removeprefix(f"{scheme}://")
    if rest == ref or not rest:
        raise BadValueError(field, f"must have the form {scheme}://…")
    if len(ref) > MAX_REFERENCE_CHARACTERS:
        raise BadValueError(field, f"must have at most {MAX_REFERENCE_CHARACTERS} characters")
    # No escapes and no second meanings: what is written is the name.
    if not rest.isprintable() or any(mark in rest for mark in "\\%?#"):
        raise BadValueError(field, "must not contain control characters or any of \\ % ? #")
    return rest


def _read_regular(file: Path) -> bytes | None:
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return opened.read(MAX_SECRET_BYTES + 1)
