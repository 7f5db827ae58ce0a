"""How commands call a running server: which one, with which key, and what they say when it goes wrong."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.failures import CommandError

if TYPE_CHECKING:
    from tidings_client import ClientError, Tidings

Url = Annotated[
    str | None,
    typer.Option("--url", envvar="TIDINGS_URL", help="The server. [default: the one of the data dir]"),
]
Key = Annotated[
    str | None,
    typer.Option("--key", envvar="TIDINGS_API_KEY", help="An API key. [default: the demo tenant's]"),
]
Tenant = Annotated[
    str | None, typer.Option("--tenant", help="For a platform key: the tenant it acts for, tnt_…")
]


#: Which command shows what there is, by the code of a 404.
_LISTS = {
    "adapter_not_found": "adapter list",
    "category_not_found": "category list",
    "conversation_not_found": "conversation list",
    "execution_not_found": "execution list",
    "inbound_delivery_not_found": "inbound-route deliveries",
    "inbound_route_not_found": "inbound-route list",
    "notification_not_found": "notification list",
    "policy_not_found": "policy list",
    "profile_not_found": "profile list",
}


@contextmanager
def client(
    url: str | None,
    key: str | None,
    tenant: str | None,
    data_dir: Path | None,
    *,
    platform: bool = False,
) -> "Iterator[Tidings]":
    """A client of the server that was named, or of the one of the data dir; with its platform's key where asked."""
    from tidings_client import ClientError, Retries, Tidings

    base, credential = _server(url, key, data_dir, platform=platform)
    try:
        opened = Tidings(base, credential, tenant=tenant, retries=Retries(most=2))
    except ValueError as error:
        raise CommandError(
            str(error).replace("base_url", "--url").replace("key must", "--key must")
        ) from None
    with opened:
        try:
            yield opened
        except ClientError as error:
            raise CommandError(in_words(error)) from None


def in_words(error: "ClientError") -> str:
    """What went wrong, and what the person at the keyboard can do."""
    from tidings.cli.printing import shown
    from tidings_client import (
        NotAllowedError,
        NotFoundError,
        NotReachedError,
        ProblemError,
        TooBusyError,
        UnauthenticatedError,
    )

    said = shown(str(error)).rstrip(".")
    if isinstance(error, NotReachedError):
        return f"{said} Start it with `tidings up`, or name another with --url"
    if isinstance(error, UnauthenticatedError):
        return f"{said}; name a key that works with --key or TIDINGS_API_KEY (`tidings api-key create` makes one)"
    if isinstance(error, ProblemError) and any(
        e.field == "X-Tenant-Id" and e.remedy.startswith("is required") for e in error.problem.errors
    ):
        return (
            "say with --tenant for which tenant the platform's key acts; "
            "for what is the platform's own, some commands have --platform "
            "(`tidings adapter add VENDOR --secret-ref … --platform` makes an account that all tenants may send through)"
        )
    if isinstance(error, ProblemError) and any(e.field == "X-Tenant-Id" for e in error.problem.errors):
        return f"{said.replace('X-Tenant-Id', '--tenant')}; `tidings tenant list` shows those there are"
    if isinstance(error, NotFoundError) and error.code == "channel_not_found":
        return said.replace("PUT it first", "`tidings channel set` sets it up")
    if isinstance(error, NotFoundError) and error.code in _LISTS:
        return f"{said}; look at `tidings {_LISTS[error.code]}`"
    if isinstance(error, NotAllowedError) and error.code == "platform_account":
        return f"{said}, or repeat it with --platform"
    if isinstance(error, NotAllowedError):
        return f"{said}; name a key that may with --key or TIDINGS_API_KEY"
    if isinstance(error, ProblemError) and error.code == "internal" and error.request_id:
        return f"{said}: {shown(error.request_id)}"
    if isinstance(error, TooBusyError):
        return f"{said}; try again in {error.retry_after or 1:g} s"
    return said


def _server(
    url: str | None, key: str | None, data_dir: Path | None, *, platform: bool = False
) -> tuple[str, str]:
    if url and key:
        return url, key
    file, demo = demo_facts(data_dir)
    if not url and not demo:
        raise CommandError(
            f"there is no {file}: run `tidings up` first, name its folder with --data-dir, "
            "or name a server with --url and --key"
        )
    base = url or str(demo.get("base_url", ""))
    if not key and base.rstrip("/") != str(demo.get("base_url", "")).rstrip("/"):
        # The demo key is not shown to a server that it is not for.
        raise CommandError(f"say with which key to call {base}: --key, or TIDINGS_API_KEY")
    return base, key or str(demo.get("platform_key" if platform else "api_key", ""))


def demo_facts(data_dir: Path | None) -> tuple[Path, dict[str, Any]]:
    """The `demo.json` of a data dir, and what it says; nothing where it is not there."""
    from tidings import settings

    file = settings.load(TIDINGS_DATA_DIR=data_dir).data_dir / "demo.json"
    try:
        found = json.loads(file.read_text())
    except PermissionError:
        raise CommandError(f"{file} can't be read by you; name a server with --url and --key") from None
    except (OSError, ValueError):
        return file, {}
    return file, found if isinstance(found, dict) else {}
