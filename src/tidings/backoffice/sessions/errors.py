"""What can go wrong with sessions.

UnauthenticatedError
├── SessionEndedError         it was ended, or its time is over
├── OtherDeviceError          its token came from another device
├── DeviceProofMissingError   it is bound to a key, and this is a page that can't sign
└── DeviceProofLateError      the device's clock is wrong
NotAllowedError
├── CsrfError                 the request does not prove that our own page sent it
└── AttestationRequiredError  the action needs a second factor of now
NotFoundError
└── UnknownSessionError       there is no session with this id here
ConflictError
└── DeviceKeyRegisteredError  the session is bound to another key
"""

from tidings.kernel.refusals import ConflictError, NotAllowedError, NotFoundError, UnauthenticatedError


class SessionEndedError(UnauthenticatedError):
    """This session has ended; sign in again at /console/sign-in."""

    code = "session_ended"


class OtherDeviceError(UnauthenticatedError):
    """This session was opened on another device, and was ended; sign in again at /console/sign-in."""

    code = "session_of_another_device"


class DeviceProofMissingError(UnauthenticatedError):
    """This session is bound to a key of the application that opened it; sign in again to use the console."""

    code = "device_proof_missing"


class DeviceProofLateError(UnauthenticatedError):
    """The proof was made more than a minute ago, or will be; set the device's clock by the header Date, and sign anew."""

    code = "device_proof_late"


class DeviceKeyRegisteredError(ConflictError):
    """This session is bound to another key already; sign in again to register a new one."""

    code = "device_key_registered"


class CsrfError(NotAllowedError):
    """Send the token of `GET /bff/v1/session` in the header X-CSRF-Token, from a page of this site."""

    code = "csrf_refused"


class UnknownSessionError(NotFoundError):
    """There is no session with this id here that is still open."""

    code = "session_not_found"


class AttestationRequiredError(NotAllowedError):
    """Make an attestation for this action with `POST /bff/v1/attestations`, and send its id in the header X-Attestation, once."""

    code = "attestation_required"

    def __init__(self, action: str) -> None:
        super().__init__(
            f"{action} needs an attestation of its own: send {{action, code}} to POST /bff/v1/attestations, then its id in "
            "the header X-Attestation; it works once, in this session, for five minutes"
        )
        #: The action to attest.
        self.action = action
