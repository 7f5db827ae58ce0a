"""Resources whose commands are made from the API alone: `tidings layout`, `tidings weights` and others."""

from tidings.cli.resource import resource_app

layout = resource_app(
    "layouts",
    "Layouts: the frames that mails are set in.",
    columns=("name", "version", "updated_at", "updated_by"),
    empty="there is no layout of your own; `tidings layout put NAME --file layout.json` makes one",
)
imports = resource_app(
    "imports",
    "Imports: files that were taken in, and what became of their lines.",
    columns=("id", "kind", "status", "lines", "refused", "created_at"),
    empty="nothing was imported; `tidings suppression import` and `tidings recipient import` take files in",
)
weights = resource_app(
    "weights",
    "Weights: how vendors share a channel; `tidings adapter share` says it in points.",
    columns=("channel", "owner", "version", "home"),
    empty="no channel has weights: vendors are called in their order; `tidings adapter share` shares one",
)
own_tenant = resource_app("tenant", "Your own tenant, as your key sees it.")
platform_suppression = resource_app(
    "platform-suppressions",
    "Addresses that no tenant may write to, with a key of the platform.",
    columns=("id", "channel", "mail_domain", "reason", "created_at"),
    empty="no address is held back for all; `tidings platform-suppression create` holds one back",
)
inbound_unmatched = resource_app(
    "inbound-unmatched",
    "Messages that people wrote and no tenant claims, with a key of the platform.",
    empty="everything that people wrote found its tenant",
)
router_audit = resource_app(
    "router-audit",
    "What was done to policies, accounts, secrets and other things of the router, and by whom.",
    columns=("occurred_at", "actor", "action", "entity_type", "entity_id"),
    empty="nothing was done yet",
)
