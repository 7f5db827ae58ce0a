"""Texts that people write for people to read: one line, or a few, and nothing that a terminal obeys."""

from typing import Annotated

from msgspec import Meta

#: C0 and C1 controls, the two separators that end a line, and what turns the direction of all that follows.
_UNSEEN = r"\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069"

#: What something is called.
Label = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        pattern=rf"^[^\s{_UNSEEN}]([^{_UNSEEN}]*[^\s{_UNSEEN}])?\Z",
        description="must be one line of text without control characters, and no space at either end",
    ),
]

#: Why a person did something.
Reason = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=500,
        pattern=rf"^[^{_UNSEEN}]*[^\s{_UNSEEN}][^{_UNSEEN}]*\Z",
        description="must be one line of text without control characters",
    ),
]
