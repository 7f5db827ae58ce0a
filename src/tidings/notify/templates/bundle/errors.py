"""What can go wrong with a zip of templates.

RefusalError
└── InvalidError
    └── BundleRefusedError         files of the zip can't be taken; names them all
"""

from collections.abc import Sequence

from tidings.contracts.templates import TemplateFinding
from tidings.kernel.refusals import FieldError, InvalidError


class BundleRefusedError(InvalidError):
    """Files of the zip can't be taken; nothing was written."""

    code = "template_bundle_refused"

    def __init__(self, findings: Sequence[TemplateFinding]) -> None:
        super().__init__(
            [
                FieldError(found.file or "the zip", _told(found))
                for found in findings
                if found.severity == "error"
            ]
        )
        # The whole report, warnings too.
        self.extensions = {"report": tuple(findings)}


def _told(found: TemplateFinding) -> str:
    where = f"line {found.line}: " if found.line is not None else ""
    return f"{where}{found.what}; {found.how}"
