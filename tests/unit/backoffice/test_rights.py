"""Whom an operator may make, and change: nobody who may more than they, and nobody of the other side."""

import pytest

from tidings.backoffice.operators.errors import RightsEscalationError
from tidings.backoffice.operators.model import Rights, check_rights
from tidings.contracts.scopes import ROLE_SCOPES
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import CallerRole
from tidings.kernel.http.callers import Caller
from tidings.kernel.ids import TENANT
from tidings.kernel.refusals import InvalidError

HOUSE = TENANT.new(SystemClock().now())
OF_TENANTS: tuple[CallerRole, ...] = ("tenant.admin", "tenant.support", "tenant.viewer")
OF_PLATFORM: tuple[CallerRole, ...] = ("platform.channel.admin", "platform.support")


def somebody(role: CallerRole) -> Caller:
    home = HOUSE if role in OF_TENANTS else None
    return Caller(
        kind="operator", id="oper_1", home=home, role=role, scopes=ROLE_SCOPES[role], environment="live"
    )


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("tenant.viewer", "tenant.support"),
        ("tenant.viewer", "tenant.admin"),
        ("tenant.support", "tenant.admin"),
    ],
)
def test_nobody_gives_more_than_they_have(mine: CallerRole, theirs: CallerRole) -> None:
    with pytest.raises(RightsEscalationError, match=theirs):
        check_rights(Rights(role=theirs), tenant_id=HOUSE, grantor=somebody(mine))


@pytest.mark.parametrize("role", OF_TENANTS)
def test_an_admin_gives_every_role_of_the_tenant(role: CallerRole) -> None:
    check_rights(Rights(role=role), tenant_id=HOUSE, grantor=somebody("tenant.admin"))
    check_rights(Rights(role=role), tenant_id=HOUSE, grantor=None)


def test_support_of_the_platform_makes_no_admin_of_the_platform() -> None:
    with pytest.raises(RightsEscalationError):
        check_rights(
            Rights(role="platform.channel.admin"), tenant_id=None, grantor=somebody("platform.support")
        )


@pytest.mark.parametrize("role", [*OF_TENANTS, *OF_PLATFORM])
def test_a_role_stays_on_its_side(role: CallerRole) -> None:
    """A tenant has no operators of the platform, and the platform none of a tenant, whoever gives the role."""
    other_side = None if role in OF_TENANTS else HOUSE
    with pytest.raises(InvalidError):
        check_rights(Rights(role=role), tenant_id=other_side, grantor=None)
