"""What is certain of a message while its set is under way, and so when the set is cut off."""

from typing import Final

from tidings.contracts.messages import TryLater, Unlearned

#: Its turn has not come.
LATE: Final = TryLater(reason="there was no time left for it in this set", code="late")
#: The vendor was asked, and has not answered.
UNANSWERED: Final = Unlearned(reason="the vendor had not answered when the set was cut off")
