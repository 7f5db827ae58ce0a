"""`tidings find`: whatever a person says on the telephone, looked for everywhere it can be."""

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.failures import CommandError
from tidings.cli.options import DataDir, Json

if TYPE_CHECKING:
    from tidings_client import Notification, Tidings

_NUMBER = re.compile(r"\+[\d\s().-]{5,30}")
#: Kinds of people that an id of the caller's own system may be of.
_KINDS = ("guest", "user", "vendor", "anonymous")
_SHOWN = 10


def find(
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
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Find people and notifications by an address, an order number or an id, and say what to type next."""
    with client(url, key, tenant, data_dir) as tidings:
        people, found, tried = _search(tidings, what.strip(), channel, limit)
    if as_json:
        import msgspec

        from tidings.cli.printing import print_json

        print_json({"recipients": people, "notifications": msgspec.to_builtins(found)})
    elif people or found:
        _show(people, found, more=len(found) >= limit)
    if not people and not found:
        raise CommandError(f"nothing was found; looked for {tried}")


def _search(
    tidings: "Tidings", what: str, channel: str | None, limit: int
) -> "tuple[list[dict[str, Any]], list[Notification], str]":
    """People, notifications, and in words what was looked for."""
    from tidings_client import Address, NotFoundError, recipients

    if what.startswith("ntf_"):
        try:
            return [], [tidings.get(what)], "a notification with this id"
        except NotFoundError:
            return [], [], "a notification with this id"
    if what.startswith("rcp_"):
        try:
            person = tidings.call(recipients.show(what))
        except NotFoundError:
            return [], [], "a recipient with this id"
        return [person], list(tidings.page(recipient=what, limit=limit).items), ""
    kind = channel or ("email" if "@" in what else "sms" if _NUMBER.fullmatch(what) else None)
    if kind is not None:
        people = tidings.call(recipients.find(kind, what))["items"]
        found = tidings.look_up(address=Address(kind, what), limit=limit).items if people else ()
        return people, list(found), f"somebody who has this {kind} address now"
    return _by_word(tidings, what, limit)


def _by_word(
    tidings: "Tidings", what: str, limit: int
) -> "tuple[list[dict[str, Any]], list[Notification], str]":
    """An order number, a value of searchable metadata, a template's key, an id of the caller's own: the first that finds something."""
    from tidings_client import RefusedError, recipients

    people: list[dict[str, Any]] = []
    found: dict[str, Notification] = {}
    searchable = _searchable(tidings)
    wanted: list[dict[str, Any]] = [{"correlation_id": what}]
    wanted += [{"metadata": {name: what}} for name in searchable]
    wanted.append({"template": what})
    for one in wanted:
        try:
            page = tidings.page(limit=limit, **one)
        except RefusedError:
            continue  # It can't be that: an order number with a blank in it is no template's key.
        found |= {item.id: item for item in page.items}
        if found:
            break
    for kind in _KINDS if not found else ():
        try:
            people += tidings.call(recipients.find_identity(kind, what))["items"]
        except RefusedError:
            break
    for person in people:
        page = tidings.page(recipient=person["id"], limit=limit)
        found |= {item.id: item for item in page.items}
    names = f", metadata ({', '.join(searchable)})" if searchable else ""
    newest = sorted(found.values(), key=lambda item: item.id, reverse=True)[:limit]
    return people, newest, f"a correlation id{names}, a template's key and an identity"


def _searchable(tidings: "Tidings") -> list[str]:
    import msgspec

    from tidings_client.calls import Call

    read = msgspec.json.Decoder(dict[str, Any]).decode
    shown = tidings.call(Call(method="GET", path="/api/v1/tenant", read=read))
    policy = (shown.get("tenant") or shown).get("notification_policy") or {}
    return [str(name) for name in policy.get("searchable_metadata") or ()]


def _show(people: list[dict[str, Any]], found: "list[Notification]", *, more: bool) -> None:
    from rich.text import Text

    from tidings.cli.found_words import next_lines, notification_lines, people_lines
    from tidings.cli.printing import print_lines

    lines = people_lines(people) if people else []
    if found:
        lines += [*([Text()] if people else []), *notification_lines(found)]
    if more:
        lines.append(Text("  … there may be more; --limit shows them", "dim"))
    commands = [f"tidings explain {found[0].id}"] if found else []
    commands += [f"tidings recipient show {people[0]['id']}"] if people else []
    if people and not found:
        lines.append(Text("nothing was sent to them yet"))
    print_lines([*lines, *next_lines(commands)])
