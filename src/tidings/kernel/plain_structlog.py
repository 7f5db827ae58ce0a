"""structlog without rich, which it loads where it finds it, for coloured tracebacks: 5 MB of every process, and ours are plain text."""

import sys

_found = sys.modules.pop("rich", None)
sys.modules["rich"] = None  # type: ignore[assignment]  # as Python has it: can't be imported
try:
    import structlog
finally:
    del sys.modules["rich"]
    if _found is not None:
        sys.modules["rich"] = _found

__all__ = ["structlog"]
