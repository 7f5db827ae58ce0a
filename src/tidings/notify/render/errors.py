"""What can go wrong with V8 itself."""

from tidings.kernel.errors import TidingsError


class IsolateFailedError(TidingsError):
    """V8 gave up on a call: it took too long or needed too much memory."""

    code = "isolate_failed"

    def __init__(self, message: str, *, reusable: bool) -> None:
        super().__init__(message)
        #: Whether the isolate can be called again.
        self.reusable = reusable
