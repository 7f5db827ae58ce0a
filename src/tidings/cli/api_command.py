"""Commands that call the API: one decorator owns the common options, the connection, and how the answer is printed."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.api_connection import Key, Tenant, Url, client
from tidings.cli.command import Formatter, JsonObject, add_command, print_answer
from tidings.cli.options import DataDir, Json

if TYPE_CHECKING:
    from tidings_client import Tidings


Platform = Annotated[bool, typer.Option("--platform", help="The platform's own, with a key of the platform.")]
#: Pages are fetched with this many items, as many as every listing takes.
PAGE = 200


# No repr and no comparison: it holds a key.
@dataclass(kw_only=True, eq=False, repr=False)
class Api:
    """The server that a command calls, connected when it is first asked."""

    stack: ExitStack
    url: str | None
    key: str | None
    tenant: str | None
    data_dir: Path | None
    as_json: bool
    #: Whether what is the platform's own is meant.
    platform: bool
    #: Whether to take the platform's key of the data dir; set it before the first call.
    platform_key: bool
    #: Other than 0 where the command did its work and the answer is still bad news: it is printed first.
    exit_code: int = 0

    @cached_property
    def tidings(self) -> "Tidings":
        """The client."""
        opened = client(self.url, self.key, self.tenant, self.data_dir, platform=self.platform_key)
        return self.stack.enter_context(opened)

    def call(
        self,
        operation: str,
        *path: object,
        query: Mapping[str, object] | None = None,
        body: object = None,
        if_match: int | None = None,
        key: str | None = None,
        media_type: str = "application/json",
    ) -> JsonObject:
        """Call an operation by its name in the OpenAPI document."""
        from tidings_client import operations

        answer: JsonObject = self.tidings.call(
            operations.call(
                operation,
                *path,
                query=query,
                body=body,
                if_match=if_match,
                key=key,
                media_type=media_type,
                platform=self.platform,
            )
        )
        return answer

    def find(self, operation: str, *path: object) -> JsonObject | None:
        """The same, or None where there is no such thing."""
        from tidings_client import NotFoundError

        try:
            return self.call(operation, *path)
        except NotFoundError:
            return None

    def list_all(
        self, operation: str, *path: object, most: int | None = None, **query: object
    ) -> list[JsonObject]:
        """All items of a listing, or the first `most`, page after page."""
        found: list[JsonObject] = []
        cursor: str | None = None
        while True:
            if most is not None:
                query["limit"] = min(most - len(found), PAGE)
            page = self.call(operation, *path, query={**query, "cursor": cursor})
            found += page["items"]
            cursor = page.get("next_cursor")
            # A page with a filter may be empty and not be the last.
            if cursor is None or (most is not None and len(found) >= most):
                return found

    def download(
        self, operation: str, *path: object, query: Mapping[str, object] | None = None
    ) -> Iterator[bytes]:
        """The file that an operation answers, in pieces."""
        from tidings_client import operations

        return self.tidings.download(operations.call(operation, *path, query=query, platform=self.platform))


def api_command(
    app: typer.Typer | None,
    name: str,
    *,
    text: Formatter | None = None,
    empty: str = "there is none",
    platform: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Make a command of a function that takes an `Api` and its own options, and gives back the answer.

    With `--json` the answer is printed as it came; else the lines that `text` makes of it, one call per item of a list,
    or `empty` where the list is. None prints nothing. `platform` adds the option `--platform`.
    """
    common: dict[str, Any] = {"platform": Platform} if platform else {}
    common |= {"as_json": Json, "url": Url, "key": Key, "tenant": Tenant, "data_dir": DataDir}

    def decorate(function: Callable[..., Any]) -> Callable[..., None]:
        def run(*, as_json: bool, **given: Any) -> None:
            where = {name: given.pop(name) for name in ("url", "key", "tenant", "data_dir")}
            own = given.pop("platform") if platform else False
            with ExitStack() as stack:
                api = Api(stack=stack, **where, as_json=as_json, platform=own, platform_key=own)
                answer = function(api, **given)
            print_answer(answer, text, empty, as_json=as_json)
            if api.exit_code:
                raise SystemExit(api.exit_code)

        return add_command(app, name, function, run, common)

    return decorate
