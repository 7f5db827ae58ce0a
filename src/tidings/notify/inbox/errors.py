"""What can go wrong with inboxes.

RefusalError
├── NotFoundError
│   ├── UnknownInboxItemError     no item of this inbox has this id, or it was deleted or has expired
│   └── UnknownInboxActionError   the item has no action of this name
└── ConflictError
    └── InboxItemActedError       another action of the item was chosen before
"""

from tidings.kernel.refusals import ConflictError, NotFoundError


class UnknownInboxItemError(NotFoundError):
    """There is no item with this id in this inbox; it may have been deleted, or have expired."""

    code = "inbox_item_not_found"


class UnknownInboxActionError(NotFoundError):
    """The item has no action of this name; its `actions` have those that there are."""

    code = "inbox_action_not_found"


class InboxItemActedError(ConflictError):
    """Another action of this item was chosen before; `acted` names it."""

    code = "inbox_item_acted"
