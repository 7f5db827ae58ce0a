"""What can go wrong with notes.

NotFoundError
└── UnknownNoteError     there is none, or it was redacted
"""

from tidings.kernel.refusals import NotFoundError


class UnknownNoteError(NotFoundError):
    """There is no such note, it is about a property that you have no right to, or it was redacted already."""

    code = "note_not_found"
