"""People, notifications and suppressions that were found, as lines of a terminal; and the next command to type."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from tidings.cli.explanation_format import STYLES, moment
from tidings.cli.printing import shown, to_the_second

if TYPE_CHECKING:
    from tidings_client import Notification


def people_lines(people: Sequence[Mapping[str, Any]]) -> list[Text]:
    """Who was found: id, identity, name, addresses."""
    lines = [Text("Recipients", "bold")]
    for one in people:
        identity = one.get("identity")
        who = f"{identity['type']} {identity.get('id') or ''}".strip() if identity else "by address alone"
        erased = "  erased" if one.get("erased_at") else ""
        lines.append(
            Text.assemble(
                f"  {one['id']}  {shown(who)}  ",
                (shown(one.get("display_name")), "bold"),
                f"  {shown(one.get('locale'))}  {_addresses(one)}",
                (erased, "red"),
            )
        )
    return lines


def notification_lines(found: "Sequence[Notification]") -> list[Text]:
    """What was found, the newest first."""
    lines = [Text("Notifications, the newest first (UTC)", "bold")]
    for one in found:
        named = f"  {one.correlation_id}" if one.correlation_id else ""
        lines.append(notification_line(one, f"  {moment(one.created_at)[:-4]}", f"{one.id}{named}"))
    return lines


def notification_line(one: "Notification", at: str, name: str) -> Text:
    """A notification on one line: when, its status, channel and template, what it is called, and the reason."""
    template = one.template.key if one.template else "-"
    return Text.assemble(
        (f"{at}  ", "dim"),
        (f"{one.status:11}", STYLES.get(one.status, "bold")),
        shown(f"{one.final_channel or one.channel:9} {template:24} {name}"),
        (shown(f"  {one.reason}" if one.reason else ""), "dim"),
    )


def suppression_lines(found: Sequence[Mapping[str, Any]]) -> list[Text]:
    """What holds an address back, or did."""
    lines = []
    for one in found:
        released = one.get("released_at")
        state = f"released {to_the_second(released)}" if released else "in force"
        until = f" until {to_the_second(one['expires_at'])}" if one.get("expires_at") and not released else ""
        target = f"@{one['mail_domain']}" if one.get("mail_domain") else one.get("address") or "…"
        lines.append(
            Text.assemble(
                f"{one['id']}  {one['channel']:9} {shown(target)}  ",
                (f"{state}{until}", "dim" if released else "yellow"),
                f"  {one['reason']} since {to_the_second(one['occurred_at'])}",
                (f"  {shown(one.get('notes'))}" if one.get("notes") else "", "dim"),
            )
        )
    return lines


def next_lines(commands: Sequence[str]) -> list[Text]:
    """What to type next."""
    return [Text(), *(Text(f"`{command}`", "dim") for command in commands)]


def _addresses(one: Mapping[str, Any]) -> str:
    # A list of recipients has none of them.
    return ", ".join(f"{a['channel']} {shown(a['address'])}" for a in one.get("addresses") or ())
