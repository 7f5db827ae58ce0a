"""Ids that both services use."""

from typing import NewType

from tidings.kernel.ids import IdKind

NotificationId = NewType("NotificationId", str)
RecipientId = NewType("RecipientId", str)
RecipientAddressId = NewType("RecipientAddressId", str)

NOTIFICATION = IdKind("ntf", NotificationId)
RECIPIENT = IdKind("rcp", RecipientId)
RECIPIENT_ADDRESS = IdKind("rad", RecipientAddressId)
