"""`tidings find`: whatever a person says on the telephone, looked for everywhere it can be."""

import re
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import JsonObject, Output
from tidings.cli.failures import CommandError
from tidings.cli.printing import json_text

if TYPE_CHECKING:
    from rich.text import Text

    from tidings_client import Notification

_NUMBER = re.compile(r"\+[\d\s().-]{5,30}")
#: Kinds of people that an id of the caller's own system may be of.
_KINDS = ("guest", "user", "vendor", "anonymous")
_SHOWN = 10


@api_command(None, "find")
def find(
    api: Api,
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="A mail address, a number (+93…), an order number, your own id of a person, a template's key, rcp_… or ntf_…",
        ),
    ],
    *,
    channel: Annotated[
        str | None,
        typer.Option(help="Of which channel the address is, where it does not show: telegram, push, …"),
    ] = None,
    limit: Annotated[int, typer.Option(help="How many notifications at most.", min=1, max=200)] = _SHOWN,
) -> Output:
    """Find people and notifications by an address, an order number or an id, and say what to type next."""
    import msgspec

    people, found, tried = _search(api, what.strip(), channel, limit)
    answer = {"recipients": people, "notifications": msgspec.to_builtins(found)}
    if not people and not found:
        if api.as_json:
            print(json_text(answer))
        raise CommandError(f"nothing was found; looked for {tried}")
    return Output(answer, _lines(people, found, more=len(found) >= limit))


def _search(
    api: Api, what: str, channel: str | None, limit: int
) -> "tuple[list[JsonObject], list[Notification], str]":
    """People, notifications, and in words what was looked for."""
    from tidings_client import Address, NotFoundError

    if what.startswith("ntf_"):
        try:
            return [], [api.tidings.get(what)], "a notification with this id"
        except NotFoundError:
            return [], [], "a notification with this id"
    if what.startswith("rcp_"):
        person = api.find("show_recipient", what)
        if person is None:
            return [], [], "a recipient with this id"
        return [person], list(api.tidings.page(recipient=what, limit=limit).items), ""
    kind = channel or ("email" if "@" in what else "sms" if _NUMBER.fullmatch(what) else None)
    if kind is not None:
        people = api.call("look_up_recipients", body={"channel": kind, "address": what})["items"]
        found = api.tidings.look_up(address=Address(kind, what), limit=limit).items if people else ()
        return people, list(found), f"a recipient that has this {kind} address now"
    return _by_word(api, what, limit)


def _by_word(api: Api, what: str, limit: int) -> "tuple[list[JsonObject], list[Notification], str]":
    """An order number, a value of searchable metadata, a template's key, an id of the caller's own: the first that finds something."""
    from tidings_client import RefusedError

    people: list[JsonObject] = []
    found: dict[str, Notification] = {}
    searchable = _searchable(api)
    wanted: list[JsonObject] = [{"correlation_id": what}]
    wanted += [{"metadata": {name: what}} for name in searchable]
    wanted.append({"template": what})
    for one in wanted:
        try:
            page = api.tidings.page(limit=limit, **one)
        except RefusedError:
            continue  # It can't be that: an order number with a blank in it is no template's key.
        found |= {item.id: item for item in page.items}
        if found:
            break
    for kind in _KINDS if not found else ():
        try:
            people += api.list_all("list_recipients", identity_type=kind, identity_id=what)
        except RefusedError:
            break
    for person in people:
        page = api.tidings.page(recipient=person["id"], limit=limit)
        found |= {item.id: item for item in page.items}
    names = f", metadata ({', '.join(searchable)})" if searchable else ""
    newest = sorted(found.values(), key=lambda item: item.id, reverse=True)[:limit]
    return people, newest, f"a correlation id{names}, a template's key and an identity"


def _searchable(api: Api) -> list[str]:
    found = api.call("own_tenant")
    policy = (found.get("tenant") or found).get("notification_policy") or {}
    return [str(name) for name in policy.get("searchable_metadata") or ()]


def _lines(people: list[JsonObject], found: "list[Notification]", *, more: bool) -> "list[Text]":
    from rich.text import Text

    from tidings.cli.search_format import next_lines, notification_lines, people_lines

    lines = people_lines(people) if people else []
    if found:
        lines += [*([Text()] if people else []), *notification_lines(found)]
    if more:
        lines.append(Text("  … there may be more; --limit shows them", "dim"))
    commands = [f"tidings explain {found[0].id}"] if found else []
    commands += [f"tidings recipient show {people[0]['id']}"] if people else []
    if people and not found:
        lines.append(Text("nothing was sent to them yet"))
    return [*lines, *next_lines(commands)]
