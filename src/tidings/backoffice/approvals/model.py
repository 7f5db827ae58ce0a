"""What can be approved, and by which key its alert is found."""

from typing import Literal

ApprovalCategory = Literal["template_approval", "batch_approval"]


def alert_key(category: ApprovalCategory, id_: str) -> str:
    """There is one open alert of a thing at most."""
    return f"{category}:{id_}"
