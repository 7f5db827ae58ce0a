"""Settings that many accounts have, each with the words that a wrong one is refused with."""

from typing import Annotated, Final

from msgspec import Meta

ONE_LINE: Final = "must be one line, without control characters"
PRINTABLE: Final = "must be printable ASCII without blanks"

#: A text for people or for a header.
Line = Annotated[
    str,
    Meta(
        min_length=1, max_length=2048, pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]+\Z", description=ONE_LINE
    ),
]
#: The same, where it is short.
ShortLine = Annotated[
    str,
    Meta(
        min_length=1, max_length=512, pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]+\Z", description=ONE_LINE
    ),
]
HostName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=253,
        pattern=r"^[A-Za-z0-9.:_-]+\Z",
        description="must be a host name or an IP address",
    ),
]
#: A key or a token.
Token = Annotated[str, Meta(min_length=1, max_length=4096, pattern=r"^[!-~]+\Z", description=PRINTABLE)]
#: The same, where it is short.
ShortToken = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[!-~]+\Z", description=PRINTABLE)]
#: What a message says that it comes from: a number, or a name in ASCII.
SenderName = Annotated[
    str,
    Meta(
        min_length=1, max_length=60, pattern=r"^[ -~]+\Z", description="must be up to 60 characters of ASCII"
    ),
]
#: In which language something is spoken.
Language = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*\Z", description="must be a language such as en or en-US"
    ),
]
