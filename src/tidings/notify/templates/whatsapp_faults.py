"""What WhatsApp would refuse of a reference to one of its templates: as it is written, and as a sample fills it."""

from collections.abc import Iterator
from typing import Final

import msgspec

from tidings.contracts.vendor_templates import LANGUAGES, VendorTemplate, shape_faults, value_faults
from tidings.notify.templates.faults import Severity
from tidings.notify.templates.model import WhatsappReference

_read: Final = msgspec.json.Decoder(VendorTemplate).decode


def reference_faults(reference: WhatsappReference) -> Iterator[tuple[str, str, str, Severity]]:
    """The field, what is wrong, how to mend it, and whether it stands in the way."""
    for name, said in shape_faults(reference):
        yield _of(name, said, "error")
    if reference.language not in LANGUAGES:
        near = sorted(code for code in LANGUAGES if code.split("_")[0] == reference.language.split("_")[0])
        how = f"write one of {', '.join(near)}" if near else "register it in a language that Meta lists"
        # Meta adds languages: one that is new must not stand in the way.
        what = f"Meta lists no language {reference.language} for templates"
        yield "whatsapp.language", what, how, "warning"


def filled_faults(document: str, sample: str) -> Iterator[tuple[str, str, str]]:
    """The field, what is wrong with what the sample makes of it, and how to mend it."""
    for name, said in value_faults(_read(document)):
        part, what, how, _ = _of(name, said, "error")
        yield part, f"{what} (with the sample {sample})", how


def _of(name: str, said: str, severity: Severity) -> tuple[str, str, str, Severity]:
    what, _, how = said.partition("; ")
    return f"whatsapp.{name}", f"{name} {what}", how or "correct it", severity
