"""Meta's error codes → what they mean: the same in the answer to a request and in a status that is told later.

The list is that of developers.facebook.com, "Error codes" of the WhatsApp Business Platform.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from tidings.contracts.callback_forms import Canonical
from tidings.router.adapters.http_client.answers import Verdict
from tidings.router.adapters.kind import StatusSeed


class MetaErrorMeaning(NamedTuple):
    """What one code means."""

    #: For the message that was just handed over.
    verdict: Verdict
    #: For a failure that is told later.
    canonical: Canonical
    reason: str


#: The message goes out again later: the vendor's trouble, ours, or the account's. Nothing is wrong with the message.
_LATER: Final[Mapping[str, Iterable[int]]] = {
    "vendor_trouble": (1, 2, 131000, 131016, 131057, 133004),
    "throttled": (4, 80007, 130429, 131056),
    # Too many of its messages were blocked or reported.
    "quality_limited": (131048, 131064),
}
#: The same, and only a person at the vendor's console can end it.
_ACCOUNT: Final[Mapping[str, Iterable[int]]] = {
    "credentials": (0, 3, 10, 190, 131005, *range(200, 300)),
    "account_blocked": (368, 131031),
    "account_unready": (33, 131037, 131045, 133000, 133005, 133006, 133010, 133015),
    "insufficient_credit": (131042,),
}
#: It is not taken later either.
_NO: Final[Mapping[str, Iterable[int]]] = {
    "bad_request": (100, 131008, 131009, 131055, 135000),
    # More than 24 hours since the person last wrote.
    "template_needed": (131047,),
    "template_unknown": (132001,),
    "template_mismatch": (132000, 132012, 132018),
    "template_paused": (132015, 132016, 132068, 132069),
    "content_refused": (131052, 131053, 132005, 132007),
    "country_refused": (130497,),
    # The account is on trial and writes to five numbers that were named.
    "not_on_test_list": (131030,),
    "own_number": (131021,),
    # Marketing that Meta holds back, for the person's sake or for an experiment.
    "marketing_limited": (130472, 131049),
}
_BY_THE_PERSON: Final[Mapping[str, Iterable[int]]] = {
    # Not a number of WhatsApp, terms not agreed to, a version that is too old: Meta does not say which.
    "recipient_unsupported": (131026,),
    "unsupported_message_type": (131051,),
    # They have stopped marketing messages of this business; others reach them.
    "opted_out": (131050,),
}
_OVER: Final[Mapping[str, Iterable[int]]] = {"expired": (131043,)}

_TABLES: Final[tuple[tuple[Mapping[str, Iterable[int]], Verdict, Canonical], ...]] = (
    (_LATER, "try_later", "failed_temp"),
    (_ACCOUNT, "try_later", "rejected_by_provider"),
    (_NO, "refused", "rejected_by_provider"),
    (_BY_THE_PERSON, "refused", "rejected_by_recipient"),
    (_OVER, "refused", "failed_perm"),
)

MEANINGS: Final[Mapping[int, MetaErrorMeaning]] = {
    code: MetaErrorMeaning(verdict, canonical, reason)
    for table, verdict, canonical in _TABLES
    for reason, codes in table.items()
    for code in codes
}
#: Without the hundred permissions of the Graph API: they are met in answers only.
SEEDS: Final = tuple(
    StatusSeed(code=str(code), canonical=meaning.canonical, reason=meaning.reason)
    for code, meaning in sorted(MEANINGS.items())
    if not 200 < code < 300
)
