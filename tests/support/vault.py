"""A Vault on loopback: the part of its documented HTTP API that reads KV secrets (version 2) and renews tokens.

https://developer.hashicorp.com/vault/api-docs/secret/kv/kv-v2 and …/auth/token
"""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "hvs.CAESIJhunter22"


class PlayedVault:
    """Its secrets, its moods, and what it heard."""

    def __init__(self) -> None:
        self.url = ""
        #: By `mount/path`; None: deleted.
        self.secrets: dict[str, dict[str, Any] | None] = {}
        self.tokens = {TOKEN}
        self.namespace: str | None = None
        self.ttl = 3600
        self.renewable = True
        #: Answer everything with this.
        self.status: int | None = None
        #: Method and path of each request.
        self.heard: list[str] = []

    def answer(self, method: str, path: str, headers: dict[str, str]) -> tuple[int, Any]:
        """Status and body, as Vault gives them."""
        self.heard.append(f"{method} {path}")
        if self.status is not None:
            return self.status, {"errors": ["Vault is sealed"]}
        if headers.get("x-vault-token") not in self.tokens:
            return 403, {"errors": ["permission denied"]}
        if self.namespace != headers.get("x-vault-namespace"):
            return 404, {"errors": ["no handler for route"]}
        if (method, path) == ("GET", "/v1/auth/token/lookup-self"):
            return 200, {"data": {"ttl": self.ttl, "renewable": self.renewable, "policies": ["tidings"]}}
        if (method, path) == ("POST", "/v1/auth/token/renew-self"):
            return 200, {"auth": {"lease_duration": self.ttl, "renewable": self.renewable}}
        mount, data, rest = path.removeprefix("/v1/").partition("/data/")
        found = self.secrets.get(f"{mount}/{rest}", ...) if data else ...
        if found is ...:
            return 404, {"errors": []}
        metadata = {
            "version": 1,
            "deletion_time": "" if found else "2026-11-15T12:00:00Z",
            "destroyed": False,
        }
        return 200 if found is not None else 404, {"data": {"data": found, "metadata": metadata}}


@contextmanager
def played_vault(tls: ssl.SSLContext | None = None) -> Iterator[PlayedVault]:
    """A server in a thread of its own."""
    played = PlayedVault()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, told = played.answer(self.command, self.path, headers)
            content = json.dumps(told).encode()
            self.send_response(status)
            if status == 307:
                self.send_header("location", f"{played.url}/elsewhere")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = answer  # noqa: N815
        do_POST = answer  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Quietly."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    played.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    serving.start()
    try:
        yield played
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
