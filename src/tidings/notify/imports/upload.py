"""The files that imports take: their kinds, and how long they may be."""

from tidings.kernel.http.errors import WrongContentTypeError
from tidings.kernel.http.requests import Request

#: What a file may be.
TYPES = ("text/csv", "application/x-ndjson", "application/jsonl")


class UploadLimit(int):
    """How many bytes a file may have: a setting."""


def require_table(request: Request) -> None:
    """Refuse a body that does not say that it is a CSV or JSON lines, or that is packed."""
    said = request.headers("content-type")
    kind = said[0].partition(";")[0].strip().lower() if len(said) == 1 else ""
    if kind not in TYPES:
        raise WrongContentTypeError(
            "the body has to be a CSV or JSON lines: send Content-Type: text/csv, or application/x-ndjson"
        )
    packed = request.headers("content-encoding")
    if any(coding.strip().lower() not in ("", "identity") for coding in packed):
        raise WrongContentTypeError("the body has to be plain: send it without Content-Encoding")
