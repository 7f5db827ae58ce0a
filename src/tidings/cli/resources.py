"""Commands that are made from the table of operations alone: `tidings layout`, `tidings weights` and others."""

from collections.abc import Iterator
from typing import Any

from tidings.cli.import_file import IMPORT
from tidings.cli.printing import shown
from tidings.cli.resource import ResourceCommands, Row


def _own_page(page: dict[str, Any]) -> Iterator[str]:
    """The items, each on a line, and the counts."""
    for item in page["items"]:
        yield shown(f"{item['id']}  {item['created_at']}  {item['category']}  {item['title']}")
    yield f"{page['unread']} unread, {page['unseen']} unseen"


layout = ResourceCommands(
    "layouts",
    columns=("name", "version", "updated_at", "updated_by"),
    empty="there is no layout of your own; `tidings layout put NAME --file layout.json` makes one",
).app()
digest = ResourceCommands(
    "digests",
    columns=("id", "recipient_id", "category", "channel", "digest_key", "item_count", "flush_at"),
    empty="nothing is being gathered; preferences say who gets which category in digests",
).app()
_ITEM_COLUMNS = ("id", "created_at", "category", "title", "read_at", "archived_at")
inbox = ResourceCommands(
    "inbox",
    columns=_ITEM_COLUMNS,
    empty="there is nothing in view; `--view all` shows what is archived or snoozed too",
    which="The recipient, such as rcp_….",
).app()
own_inbox = ResourceCommands(
    "own-inbox",
    # A live stream is for the application; `list` shows what has come.
    names={"stream": ""},
    rows={"list": Row(text=_own_page)},
).app()
imports = ResourceCommands(
    "imports",
    columns=("id", "kind", "status", "lines", "refused", "created_at"),
    empty="nothing was imported; `tidings suppression import` and `tidings recipient import` take files in",
).app()
weights = ResourceCommands(
    "weights",
    columns=("channel", "owner", "version", "home"),
    empty="no channel has weights: vendors are called in their order; `tidings adapter share` shares one",
).app()
event_reader = ResourceCommands(
    "event-readers",
    columns=("name", "types", "updated_at"),
    empty="no reader keeps its place here; `tidings event-reader put NAME` makes one",
).app()
event_subscription = ResourceCommands(
    "event-subscriptions",
    columns=("id", "name", "subject", "enabled", "for_tenant", "tenant_word"),
    empty="nothing is read from the broker; `tidings event-subscription create` takes what another system publishes there",
).app()
own_tenant = ResourceCommands("tenant").app()
tenant_settings = ResourceCommands("tenant-settings").app()
statistics = ResourceCommands("statistics").app()
platform_suppression = ResourceCommands(
    "platform-suppressions",
    columns=("id", "channel", "mail_domain", "reason", "created_at"),
    empty="no address is held back for all; `tidings platform-suppression create` holds one back",
).app()
inbound_unmatched = ResourceCommands(
    "inbound-unmatched",
    empty="everything that people wrote found its tenant",
).app()
router_audit = ResourceCommands(
    "router-audit",
    columns=("occurred_at", "actor", "action", "entity_type", "entity_id"),
    empty="nothing was done yet",
).app()
preferences = ResourceCommands(
    "preferences", options={"emit_events": "--events/--no-events"}, rows={"import": IMPORT}
).app()
