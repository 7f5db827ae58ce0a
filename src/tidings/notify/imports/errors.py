"""What can go wrong with imports as a whole; what is wrong with a line stands in the report.

NotFoundError
└── UnknownImportError     no import of this tenant has this id
ConflictError
├── TakenOverError         another request resumed it
└── OtherFileError         what was sent to go on with it is another file
InvalidError
└── UnreadableFileError    the file as a whole can't be understood
"""

from tidings.kernel.refusals import ConflictError, FieldError, InvalidError, NotFoundError


class UnknownImportError(NotFoundError):
    """There is no import with this id here."""

    code = "import_not_found"


class TakenOverError(ConflictError):
    """Another request with the same Idempotency-Key goes on with this import; this one has stopped."""

    code = "import_taken_over"


class OtherFileError(ConflictError):
    """The import with this Idempotency-Key was begun with another file; send the same one, or a new key."""

    code = "import_other_file"


class UnreadableFileError(InvalidError):
    """The file can't be understood."""

    def __init__(self, remedy: str, *, field: str = "") -> None:
        super().__init__([FieldError(field, remedy)])
