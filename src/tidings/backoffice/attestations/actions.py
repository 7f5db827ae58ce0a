"""Which actions need an attestation; this table is the only one, and the docs show it."""

from typing import Final, Literal, get_args

AttestedAction = Literal[
    "session.force_out",
    "operator.invite",
    "operator.change",
    "operator.status",
    "operator.reset_mfa",
    "operator.erase",
    "api_key.make",
    "credential.change",
    "tenant.close",
    "raw.read",
    "recipient.erase",
    "suppression.release_many",
    "passkey.add",
    "passkey.remove",
    "lock.issue",
    "lock.revoke",
    "lock.rebind",
    "lock.extend",
    "note.redact",
]

#: Every such action, and what it does.
ACTIONS: Final[dict[AttestedAction, str]] = {
    "session.force_out": "End sessions of others: one, or all of an operator, a device, a tenant, or of everybody.",
    "operator.invite": "Invite an operator, or send the invitation again: whoever has the link becomes one.",
    "operator.change": "Give an operator another role, or rights to other properties.",
    "operator.status": "Disable, enable or unlock an operator, or take an invitation back.",
    "operator.reset_mfa": "Take an operator's password and authenticator away, so that they begin anew.",
    "operator.erase": "Erase an operator's personal data.",
    "api_key.make": "Make an API key, or give one a successor: keys outlive the session, and the operator.",
    "credential.change": "Store, rotate or remove a vendor's credentials, lead an account to others, or rotate the secret of a webhook.",
    "tenant.close": "Freeze or suspend a tenant.",
    "raw.read": "Read the raw body of a request of a vendor: it may hold addresses and texts.",
    "recipient.erase": "Erase a recipient, for good.",
    "suppression.release_many": "Release many suppressions at once.",
    "passkey.add": "Add a passkey of one's own: it signs in, and stands in the place of codes.",
    "passkey.remove": "Remove a passkey of one's own.",
    "lock.issue": "Issue a key to a door.",
    "lock.revoke": "Take the keys of a reservation away.",
    "lock.rebind": "Bind the keys of a reservation to another room.",
    "lock.extend": "Have the keys of a reservation open for longer.",
    "note.redact": "Redact what an operator wrote, for good.",
}

if set(ACTIONS) != set(get_args(AttestedAction)):
    raise AssertionError("every attested action has its line in ACTIONS")
