"""One number out of a Beta distribution, for choices that try what is not known well yet (Thompson sampling)."""

import math
from collections.abc import Callable
from typing import Final

from tidings.router.profiles.posterior import Posterior

#: About one of two tries is taken; so many misses in a row mean that it is no random number but a constant.
_TRIES: Final = 64
_LOG_4: Final = math.log(4.0)
_ONE_AND_LOG_5: Final = 1.0 + math.log(5.0)
_SMALLEST: Final = 1e-12


def draw(posterior: Posterior, random_unit: Callable[[], float]) -> float:
    """A probability, as likely as the posterior says. `random_unit` gives numbers in [0, 1), evenly spread."""
    a, b = posterior.a, posterior.b
    # Where one side was never seen there is a closed form.
    if b <= 1.0:
        return _inside(_unit(random_unit) ** (1.0 / a))
    if a <= 1.0:
        return _inside(1.0 - _unit(random_unit) ** (1.0 / b))
    return _inside(_cheng(a, b, random_unit, otherwise=posterior.mean))


def _cheng(a: float, b: float, random_unit: Callable[[], float], *, otherwise: float) -> float:
    # R. C. H. Cheng, "Generating beta variates with nonintegral shape parameters" (1978), algorithm BB; names as there.
    a0, b0 = min(a, b), max(a, b)
    alpha = a0 + b0
    beta = math.sqrt((alpha - 2.0) / (2.0 * a0 * b0 - alpha))
    gamma = a0 + 1.0 / beta
    for _ in range(_TRIES):
        u1, u2 = _unit(random_unit), _unit(random_unit)
        v = beta * math.log(u1 / (1.0 - u1))
        w = a0 * math.exp(v)
        z = u1 * u1 * u2
        r = gamma * v - _LOG_4
        s = a0 + r - w
        if s + _ONE_AND_LOG_5 >= 5.0 * z or r + alpha * math.log(alpha / (b0 + w)) >= math.log(z):
            return (w if a == a0 else b0) / (b0 + w)
    return otherwise


def _unit(random_unit: Callable[[], float]) -> float:
    # Neither 0 nor 1: both have no logarithm.
    return min(max(random_unit(), _SMALLEST), 1.0 - _SMALLEST)


def _inside(p: float) -> float:
    return min(max(p, _SMALLEST), 1.0 - _SMALLEST)
