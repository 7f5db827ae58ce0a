"""Every scope and what it allows; nothing is imported for it, so that a command can list them in its help."""

from typing import Final

#: Resource → what reading it shows, what writing it changes. An empty sentence: there is no such verb.
_RESOURCES: Final[dict[str, tuple[str, str]]] = {
    "notifications": ("See notifications, their attempts and why they were or were not sent.", "Send and cancel notifications."),
    "templates": ("See templates and their versions.", "Draft, publish, roll back and import templates."),
    "recipients": ("See recipients, their addresses and preferences.", "Change and erase recipients and their preferences."),
    "suppressions": ("See who is suppressed, and why.", "Suppress, release and import."),
    "channels": ("See channels, senders and their health.", "Change channels, senders and credentials."),
    "batches": ("See batches, whom they reach and what they came to.", "Write, approve, start, pause, resume and cancel batches."),
    "triggers": ("See which events send what, and what came of them.", "Change which events send what."),
    "events": ("Listen to events, and see which ones arrived.", "Send events."),
    "webhooks": ("See webhook subscriptions and deliveries.", "Change subscriptions, rotate secrets, deliver again."),
    "inbox": ("Read recipients' in-app inboxes.", "Change items of recipients' in-app inboxes, and make the tokens that open them."),
    "router": ("See policies, executions and circuits.", "Change policies, adapters, circuits and routes."),
    "conversations": ("See who people are in conversation with, and when.", "Read what people wrote, answer, and close conversations."),
    "audit": ("Read the audit.", ""),
    "api_keys": ("See API keys; never their secrets.", "Create, rotate and revoke API keys."),
    "alerts": ("See alerts of the back office.", "Acknowledge, resolve and mute alerts."),
    "ai_inbox": ("See what an AI suggests to the back office.", "Accept, reject and change suggestions of an AI."),
    "locks": ("See keys to doors, and what was done to locks.", "Issue, revoke, rebind and extend keys to doors."),
    "notes": ("Read what operators wrote beside acknowledgements and decisions.", "Redact what operators wrote."),
    "operators": ("See operators of the back office, and their sessions.", "Invite operators, change their rights, end their sessions."),
    "tenants": ("See all tenants.", "Create, change, freeze and suspend tenants."),
}  # fmt: skip

#: Every scope and what it allows.
SCOPES: Final[dict[str, str]] = {
    f"{resource}:{verb}": sentence
    for resource, sentences in _RESOURCES.items()
    for verb, sentence in zip(("read", "write"), sentences, strict=True)
    if sentence
}
