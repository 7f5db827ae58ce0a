"""What a key or token may do, by resource and verb, and which of it each role can hold.

A caller's scopes are those it was given, as far as its role allows them. A role narrows and never widens.
"""

from collections.abc import Collection
from typing import Final

from tidings.contracts.scope_names import SCOPES
from tidings.kernel.db import CALLER_ROLES, CallerRole

_READS: Final = frozenset(scope for scope in SCOPES if scope.endswith(":read"))
_PLATFORM_ONLY: Final = frozenset({"tenants:read", "tenants:write"})
#: What people wrote is read by a data steward alone: whoever administers the tenant.
_STEWARDS: Final = frozenset({"notes:read", "notes:write"})

#: What each role can hold at most.
ROLE_SCOPES: Final[dict[CallerRole, frozenset[str]]] = {
    "platform.channel.admin": frozenset(SCOPES),
    "platform.support": _READS - _STEWARDS,
    "tenant.admin": frozenset(SCOPES) - _PLATFORM_ONLY,
    "tenant.support": (_READS - _PLATFORM_ONLY - _STEWARDS - {"api_keys:read", "operators:read"})
    | {
        "locks:write",
        "notifications:write",
        "recipients:write",
        "suppressions:write",
        "inbox:write",
        "conversations:write",
        "alerts:write",
        "ai_inbox:write",
    },
    "tenant.viewer": _READS
    - _PLATFORM_ONLY
    - _STEWARDS
    - {"api_keys:read", "audit:read", "locks:read", "operators:read"},
}

if set(ROLE_SCOPES) != set(CALLER_ROLES):
    raise AssertionError("every role has its line in ROLE_SCOPES")


#: A scope, and the one that was a part of it before it had a name: whoever was given the one has the other.
_INCLUDED: Final = {"router:read": "conversations:read", "router:write": "conversations:write"}


def effective_scopes(role: CallerRole, given: Collection[str]) -> frozenset[str]:
    """What a caller may do: what it was given, with what that includes, as far as its role allows."""
    included = {_INCLUDED[scope] for scope in given if scope in _INCLUDED}
    return ROLE_SCOPES[role] & (included | set(given))


def is_platform_role(role: CallerRole) -> bool:
    """Whether callers of this role belong to the platform and to no tenant."""
    return role.startswith("platform.")
