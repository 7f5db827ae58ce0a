"""Amounts of one currency in another, by the rates of the settings."""

from collections.abc import Mapping
from fractions import Fraction

from tidings.kernel.errors import BadValueError

_FIELD = "TIDINGS_CURRENCY_RATES"
_REMEDY = "must be a currency and what one of it is in others: `USD EUR=0.92 AFN=70.5`"


class Rates:
    """What one unit of a base currency is in others."""

    def __init__(self, base: str = "USD", rates: Mapping[str, Fraction] | None = None) -> None:
        self.base = base
        self._rates: dict[str, Fraction] = {base: Fraction(1), **(rates or {})}

    @classmethod
    def read(cls, text: str) -> "Rates":
        """From the setting; a text that is none is refused."""
        base, *others = text.replace(",", " ").split() or ("USD",)
        rates: dict[str, Fraction] = {}
        for other in others:
            currency, _, rate = other.partition("=")
            rates[_currency(currency)] = _rate(rate)
        return cls(_currency(base), rates)

    @property
    def currencies(self) -> tuple[str, ...]:
        """Those that can be converted into each other."""
        return tuple(sorted(self._rates))

    def convert(self, micros: int, frm: str, to: str) -> int | None:
        """Rounded up, so that no cap is passed by rounding; None where a rate is missing."""
        if frm == to or micros == 0:
            return micros
        source, target = self._rates.get(frm), self._rates.get(to)
        if source is None or target is None:
            return None
        exact = micros * target / source
        return -(-exact.numerator // exact.denominator)


def _currency(text: str) -> str:
    if len(text) != 3 or not text.isascii() or not text.isalpha() or not text.isupper():
        raise BadValueError(_FIELD, _REMEDY)
    return text


def _rate(text: str) -> Fraction:
    try:
        rate = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise BadValueError(_FIELD, _REMEDY) from None
    if rate <= 0:
        raise BadValueError(_FIELD, _REMEDY)
    return rate
