"""Names that Windows keeps for devices: a template of such a name could not be checked out there."""

import re
from typing import Final

_DEVICES: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|\Z)", re.IGNORECASE)


def device_fault(name: str) -> tuple[str, str] | None:
    """What is wrong with a path that has such a name in it, and the remedy; None where nothing is."""
    part = next((part for part in name.split("/") if _DEVICES.match(part)), None)
    if part is None:
        return None
    return f"is named {part}, which no file can be called on Windows", "choose another name"


def device_remedy(name: str) -> str | None:
    """The same as one sentence about a field; None where nothing is wrong."""
    fault = device_fault(name)
    return None if fault is None else "; ".join(fault)
