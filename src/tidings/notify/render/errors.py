"""What can go wrong with rendering itself.

TidingsError
├── IsolateFailedError        V8 gave up: its memory is over (inside a child)
├── ChildDiedError            a child process ended before it had answered
├── BrokenCallError           a child can't do what it was asked for
└── UnavailableError
    └── RenderInterruptedError    nothing was begun, or no template is at fault; the same can be tried again
"""

from tidings.kernel.errors import TidingsError
from tidings.kernel.refusals import UnavailableError


class IsolateFailedError(TidingsError):
    """V8 gave up on a call."""

    code = "isolate_failed"


class ChildDiedError(TidingsError):
    """A child process ended, or was ended, while it was at work."""

    code = "render_child_died"

    def __init__(self, reason: str, *, seconds: float) -> None:
        super().__init__(_WORDS[reason])
        #: `took_too_long needed_too_much_memory killed_the_renderer`.
        self.reason = reason
        #: How much processor time it had used; by the clock where that is not known.
        self.seconds = seconds


class BrokenCallError(TidingsError):
    """A child could not make sense of a call."""

    code = "render_call_broken"


class RenderInterruptedError(UnavailableError):
    """No process for rendering could be had: it is closing, or none could be started. Nothing is wrong with the texts; try again in a moment."""

    code = "render_interrupted"


_WORDS = {
    "took_too_long": "it took too long and was stopped",
    "needed_too_much_memory": "it needed too much memory and was stopped",
    "killed_the_renderer": "the process that rendered it ended",
}
