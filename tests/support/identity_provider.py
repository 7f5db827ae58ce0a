"""An identity provider on loopback: OpenID Connect's code flow with PKCE, as real ones speak it; whoever comes is let in."""

import base64
import hashlib
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "tidings-console", "a+b/c secret"


class PlayedProvider:
    """Names `email` to whoever asks; `claims` overrides what its tokens say."""

    def __init__(self) -> None:
        self.email: str | None = None
        self.claims: dict[str, Any] = {}
        self.key = RSAKey.generate_key(2048, parameters={"kid": "k1", "use": "sig"})
        self.signs_with = self.key
        self.is_away = False
        self.issued: dict[str, dict[str, str]] = {}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                at = urlsplit(self.path)
                if at.path == "/authorize":
                    asked = {key: values[0] for key, values in parse_qs(at.query).items()}
                    self.send_response(302)
                    self.send_header("location", outer.authorise(asked))
                    self.send_header("content-length", "0")
                    self.end_headers()
                    return
                self._answer(outer.document(at.path))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                fields = {key: values[0] for key, values in parse_qs(body).items()}
                self._answer(outer.redeem(fields, self.headers.get("authorization", "")))

            def _answer(self, said: Any) -> None:
                status = 503 if outer.is_away else 200 if said is not None else 400
                content = json.dumps(said or {"error": "invalid_grant"}).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def document(self, path: str) -> Any:
        if path == "/.well-known/openid-configuration":
            return {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
            }
        return {"keys": [self.key.as_dict(private=False)]} if path == "/keys" else None

    def authorise(self, asked: dict[str, str]) -> str:
        """Where it leads somebody who is asked, and lets in."""
        assert asked["client_id"] == CLIENT
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(8)
        self.issued[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def redeem(self, fields: dict[str, str], authorisation: str) -> Any:
        """Its token for a code; None where the code, the secret or the verifier is not right."""
        asked = self.issued.pop(fields.get("code", ""), None)
        expected = base64.b64encode(b"tidings-console:a%2Bb%2Fc%20secret").decode()
        digest = hashlib.sha256(fields.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or authorisation != f"Basic {expected}" or challenge != asked["code_challenge"]:
            return None
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "sub": "4711",
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            "email": self.email,
            "email_verified": True,
            **self.claims,
        }
        header = {"alg": "RS256", "kid": "k1"}
        return {
            "id_token": jwt.encode(header, claims, self.signs_with),
            "access_token": "x",
            "token_type": "Bearer",
        }

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
