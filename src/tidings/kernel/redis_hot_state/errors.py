"""What can go wrong with Redis, in one word for the failover to Postgres."""

from tidings.kernel.errors import TidingsError


class RedisLostError(TidingsError):
    """Redis did not do what it was asked to."""

    code = "redis_lost"

    def __init__(self, reason: str, *, slow: bool = False) -> None:
        super().__init__(f"Redis did not do what it was asked to ({reason})")
        #: In a word, without anything that Redis or the URL said.
        self.reason = reason
        #: It did not answer in time; it may have done it all the same.
        self.slow = slow
