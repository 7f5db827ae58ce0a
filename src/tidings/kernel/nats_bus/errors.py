"""What JetStream refuses."""

from tidings.kernel.errors import TidingsError


class JetStreamError(TidingsError):
    """JetStream refused something."""

    code = "jetstream"

    def __init__(self, number: int, words: str) -> None:
        super().__init__(f"JetStream: {words}")
        #: JetStream's own number of the error.
        self.number = number
