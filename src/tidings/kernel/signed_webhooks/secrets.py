"""A secret that is several, while one takes the place of another: one on each line, or long ones with blanks between them.

A blank parts secrets only where each of them is long: of a passphrase no single word may be enough.
"""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from tidings.kernel.signed_webhooks.signature import BASE64, SECRET_PREFIX

MOST_SECRETS: Final = 4
#: A word of so many characters is a secret by itself.
_LONG: Final = 16
_SIGNING: Final = rf"{SECRET_PREFIX}{BASE64}"
_PLAIN: Final = rf"(?!{SECRET_PREFIX})"


def _several(word: str, long_word: str, line: str) -> str:
    """One word; or long words with blanks between them; or lines."""
    more = MOST_SECRETS - 1
    return rf"^(?:{word}|{long_word}(?: {long_word}){{1,{more}}}|{line}(?:\n{line}){{1,{more}}})\Z"


#: How several are written.
SEVERAL: Final = (
    f"up to {MOST_SECRETS} one on each line, or of {_LONG} characters or more each with a blank between them"
)
_WORD: Final = r"[^\x00-\x20\x7f\x85\u2028\u2029]"
_CHARACTER: Final = r"[^\x00-\x1f\x7f\x85\u2028\u2029]"

#: What a vendor proves itself with.
Secrets = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=2048,
        pattern=_several(rf"{_WORD}+", rf"{_WORD}{{{_LONG},}}", rf"{_CHARACTER}+"),
        description=f"must be one secret without blanks, or {SEVERAL}",
    ),
]
#: The same in visible ASCII alone.
AsciiSecrets = Annotated[
    str,
    Meta(
        min_length=8,
        max_length=2048,
        pattern=_several("[!-~]+", f"[!-~]{{{_LONG},}}", "[!-~]+"),
        description=f"must be one word of ASCII, or {SEVERAL}",
    ),
]
#: How the secret of such a signature is written.
SIGNING_FORM: Final = f"must be {SECRET_PREFIX} and base64, or a text without blanks; {SEVERAL}"
#: The same where the signature is that of Standard Webhooks.
SigningSecrets = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=2048,
        pattern=_several(
            rf"(?:{_SIGNING}|{_PLAIN}{_WORD}+)",
            rf"(?:{_SIGNING}|{_PLAIN}{_WORD}{{{_LONG},}})",
            rf"(?:{_SIGNING}|{_PLAIN}{_CHARACTER}+)",
        ),
        description=SIGNING_FORM,
    ),
]


def signs(text: str) -> bool:
    """Whether a text can be the secret of a signature that receivers verify."""
    try:
        msgspec.convert(text, SigningSecrets)
    except msgspec.ValidationError:
        return False
    return True


def secrets_of(text: str) -> tuple[str, ...]:
    """The secrets, the first ones where there are too many; none of a text that is empty."""
    if not text.strip():
        return ()
    if "\n" in text:
        lines = (line.strip("\r") for line in text.split("\n"))
        return tuple(line for line in lines if line.strip())[:MOST_SECRETS]
    words = text.split(" ")
    if all(len(word) >= _LONG or word.startswith(SECRET_PREFIX) for word in words):
        return tuple(words)[:MOST_SECRETS]
    return (text,)
