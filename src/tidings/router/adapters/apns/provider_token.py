"""The token with which Apple knows a sender: signed by ourselves, and used for a while."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from tidings.kernel.clock import Clock
from tidings.router.adapters.signing_keys import signed

if TYPE_CHECKING:
    from joserfc.jwk import ECKey

#: Apple takes none that is older than an hour, and not another one within twenty minutes.
_RENEWED_AFTER: Final = timedelta(minutes=40)
_SOONEST: Final = timedelta(minutes=20)


class ApnsToken:
    """The newest token."""

    def __init__(self, key: "ECKey", *, key_id: str, team_id: str, clock: Clock) -> None:
        self._key = key
        self._key_id = key_id
        self._team_id = team_id
        self._clock = clock
        self._made: tuple[datetime, str] | None = None

    def get(self) -> str:
        """The token, made anew when it is time."""
        now = self._clock.now()
        if self._made is None or not timedelta(0) <= now - self._made[0] < _RENEWED_AFTER:
            claims = {"iss": self._team_id, "iat": int(now.timestamp())}
            self._made = (now, signed({"alg": "ES256", "kid": self._key_id}, claims, self._key))
        return self._made[1]

    def expired(self) -> None:
        """Apple says that it is too old. One of the last twenty minutes is kept: then a clock is wrong, and a new one would
        only be one too many."""
        made = self._made
        if made is not None and self._clock.now() - made[0] >= _SOONEST:
            self._made = None
