"""What callers may do: what they were given, with what that includes, and never more than their role."""

from tidings.contracts.scope_names import SCOPES
from tidings.contracts.scopes import ROLE_SCOPES, effective_scopes


def test_a_role_narrows_and_never_widens() -> None:
    for role, allowed in ROLE_SCOPES.items():
        assert effective_scopes(role, SCOPES) == allowed
        assert effective_scopes(role, ()) == frozenset()


def test_scopes_of_the_router_include_those_of_conversations() -> None:
    assert effective_scopes("tenant.admin", ["router:write"]) == {"router:write", "conversations:write"}
    assert effective_scopes("tenant.viewer", ["router:read", "router:write"]) == {
        "router:read",
        "conversations:read",
    }
    assert effective_scopes("tenant.support", ["conversations:write"]) == {"conversations:write"}
