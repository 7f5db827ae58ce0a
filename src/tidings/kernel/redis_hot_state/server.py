"""One Redis or Valkey server: connections, time limits, scripts, and the certainty that it is still the same one.

Every connection asks the server for its `run_id` before it is used. A server that was restarted, or another one that
took its place, has another one, and may have lost what was counted: it is refused, however quickly it came back.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from tidings.kernel.errors import NotConfiguredError
from tidings.kernel.redis_hot_state.errors import RedisLostError
from tidings.kernel.redis_hot_state.scripts import LuaScript
from tidings.kernel.secrets import Secret

try:
    import redis.asyncio as client
    from redis import exceptions
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    from tidings.kernel.redis_hot_state.pipeline import RedisPipeline
except ImportError as missing:
    raise NotConfiguredError(
        "hot state in Redis needs the extra `redis`: pip install 'tidings-platform[redis]'"
    ) from missing

#: Our words for a URL to the client's; the ones with an s speak TLS.
_SCHEMES: Final = {"redis": "redis", "valkey": "redis", "rediss": "rediss", "valkeys": "rediss"}
_PROOF: Final = "tidings:proof"
_GIVEN_UP: Final = "given up"
ANOTHER_SERVER: Final = "another server"


class RedisServer:
    """Runs scripts there, each within a time limit."""

    def __init__(self, url: Secret, *, call_seconds: float = 0.25) -> None:
        self._expected: str | None = None
        self._given_up = False
        try:
            pool = client.ConnectionPool.from_url(
                _client_url(url),
                protocol=2,
                retry=Retry(NoBackoff(), 0),
                socket_connect_timeout=call_seconds,
                socket_timeout=None,  # a line has a limit of its own
            )
        except (ValueError, exceptions.RedisError):
            # Not quoted: there may be a password in it.
            raise NotConfiguredError(
                "the URL of Redis can't be read: redis://user:password@host:port/0"
            ) from None
        self._calls = RedisPipeline(pool.make_connection, seconds=call_seconds, greet=self._greet)
        # Apart, so that a proof does not stand behind calls that hang.
        self._proofs = RedisPipeline(pool.make_connection, seconds=call_seconds)

    async def expect(self, run_id: str | None) -> None:
        """Use it again, and only while it is this very server; None: whichever it is."""
        await self._calls.drop()
        self._expected = run_id
        self._given_up = False

    def give_up(self) -> None:
        """Answer no more calls, nor those that wait for their turn; only proofs."""
        self._given_up = True
        self._calls.refuse_waiting(RedisLostError(_GIVEN_UP))

    async def run(self, script: LuaScript, keys: Sequence[str], *arguments: str | int | bytes) -> Any:
        """What the script answers; a `RedisLostError` where it does not."""
        try:
            return await self._ask("EVALSHA", script.digest, len(keys), *keys, *arguments)
        except exceptions.NoScriptError:
            # Its first use there. Nothing was done yet.
            return await self._ask("EVAL", script.text, len(keys), *keys, *arguments)

    async def command(self, *words: str | int | bytes) -> Any:
        """What a plain command answers."""
        return await self._ask(*words)

    async def prove(self) -> str:
        """Its `run_id`, after it has shown that it takes writes."""
        with _in_our_words():
            # A server that is loading, out of memory, or a replica refuses this.
            await self._proofs.ask("SET", _PROOF, "1", "PX", 60_000)
            return _field(await self._proofs.ask("INFO", "server"), "run_id")

    async def evicts(self) -> bool:
        """Whether it forgets what it was told to keep when its memory is full."""
        with _in_our_words():
            policy = _field(await self._proofs.ask("INFO", "memory"), "maxmemory_policy")
        return policy not in {"", "noeviction"}

    async def close(self) -> None:
        """Drop all connections."""
        await self._calls.close()
        await self._proofs.close()

    async def _ask(self, *words: str | int | bytes) -> Any:
        if self._given_up:
            raise RedisLostError(_GIVEN_UP)
        with _in_our_words():
            return await self._calls.ask(*words)

    async def _greet(self, connection: Any) -> None:
        if self._expected is not None:
            await connection.send_command("INFO", "server")
            if _field(await connection.read_response(), "run_id") != self._expected:
                raise RedisLostError(ANOTHER_SERVER)


@contextmanager
def _in_our_words() -> Iterator[None]:
    try:
        yield
    except exceptions.NoScriptError:
        raise
    except (TimeoutError, exceptions.TimeoutError):
        raise RedisLostError("does not answer", slow=True) from None
    except (exceptions.RedisError, OSError) as error:
        # Its words stay here: they may quote arguments or the URL.
        raise RedisLostError(type(error).__name__) from None


def _client_url(url: Secret) -> str:
    parts = urlsplit(url.reveal())
    if parts.scheme not in _SCHEMES:
        raise ValueError
    return urlunsplit(parts._replace(scheme=_SCHEMES[parts.scheme]))


def _field(info: bytes, name: str) -> str:
    for line in info.decode().splitlines():
        found, _, value = line.partition(":")
        if found == name:
            return value
    return ""
