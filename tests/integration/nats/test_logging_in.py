"""How a process logs in to NATS, and what it says where it is refused."""

import asyncio
import contextlib
from pathlib import Path

import nkeys
import pytest

from tests.support.bus import DEADLINE
from tests.support.certificates import make_certificate
from tests.support.nats import NatsServer, running_nats
from tests.support.nats_accounts import make_nats_account
from tidings.kernel.bus import BusUnavailableError
from tidings.kernel.errors import BadValueError
from tidings.kernel.nats_bus.address import parse_address
from tidings.kernel.nats_bus.connection import NatsConnection
from tidings.kernel.secrets import FileSecrets, Secret

_USERS = 'authorization { users: [{ user: "tidings", password: "right" }] }'


async def _check(url: Secret, secrets: Path | None = None) -> str:
    """The server's version; a `BusUnavailableError` with what readiness says."""
    connection = NatsConnection(parse_address(url), secrets=FileSecrets(secrets) if secrets else None)
    try:
        return f"NATS {(await connection.client()).connected_server_version}"
    finally:
        await connection.close()


async def test_a_password_that_is_wrong_is_said_and_not_quoted() -> None:
    """The remedy names the setting; neither the log nor readiness has a word of the URL."""
    with running_nats(config=_USERS, login="tidings:wr0ng-pass@") as server:
        with pytest.raises(BusUnavailableError, match=r"refuses the login.*TIDINGS_BUS_URL") as refused:
            await _check(server.url())
        assert "wr0ng" not in str(refused.value)
        right = server.url().reveal().replace("wr0ng-pass", "right")
        assert (await _check(Secret(right))).startswith("NATS")


async def test_secrets_may_be_in_files(tmp_path: Path) -> None:
    """Password, token and the seed of an nkey by reference: what is rotated is read with the next connection."""
    (tmp_path / "password").write_text("right\n")
    with running_nats(config=_USERS, login="tidings@") as server:
        assert await _check(server.url(password="file://password"), tmp_path)
    (tmp_path / "token").write_text("t0ken\n")
    with running_nats(config='authorization { token: "t0ken" }') as server:
        assert await _check(server.url(token="file://token"), tmp_path)
        with pytest.raises(BusUnavailableError, match="login"):
            await _check(server.url())
    pair = nkeys.from_seed(nkeys.encode_seed(b"s" * 32, nkeys.PREFIX_BYTE_USER))
    (tmp_path / "seed").write_bytes(bytes(pair.seed) + b"\n")
    users = f'authorization {{ users: [{{ nkey: "{pair.public_key.decode()}" }}] }}'
    with running_nats(config=users) as server:
        assert await _check(server.url(nkey="file://seed"), tmp_path)


async def test_a_token_in_the_url() -> None:
    """As NATS writes it: alone before the @."""
    with running_nats(config='authorization { token: "t0ken" }', login="t0ken@") as server:
        assert await _check(server.url())


async def test_tls_needs_a_certificate_that_is_trusted(tmp_path: Path) -> None:
    """By an authority that the URL names; otherwise the connection is refused, by us."""
    certificate = make_certificate(tmp_path)
    config = f'tls {{ cert_file: "{certificate.cert_file}", key_file: "{certificate.key_file}" }}'
    with running_nats(config=config, scheme="tls") as server:
        assert await _check(server.url(ca=certificate.cert_file))
        with pytest.raises(BusUnavailableError, match=r"not trusted.*\?ca="):
            await _check(server.url())


async def test_a_credentials_file_logs_in_where_accounts_are_jwts(tmp_path: Path) -> None:
    """Operator mode: the server trusts an operator, the operator an account, the account a user; JetStream is the account's."""
    account, stranger = make_nats_account(), make_nats_account()
    (tmp_path / "creds").write_text(account.credentials)
    (tmp_path / "stranger").write_text(stranger.credentials)
    (tmp_path / "expired").write_text(make_nats_account(user_expires=1_000_000_000).credentials)
    with running_nats(config=account.config) as server:
        connection = NatsConnection(
            parse_address(server.url(credentials="file://creds")), secrets=FileSecrets(tmp_path)
        )
        assert b"account_info_response" in await connection.request("$JS.API.INFO")
        await connection.close()
        for refused in ("stranger", "expired"):
            with pytest.raises(BusUnavailableError, match=r"refuses the login.*credentials") as said:
                await _check(server.url(credentials=f"file://{refused}"), tmp_path)
            assert stranger.seed not in str(said.value)
        with pytest.raises(BusUnavailableError, match="login"):
            await _check(server.url())


async def test_credentials_that_are_rotated_are_read_with_the_next_connection(tmp_path: Path) -> None:
    """No restart: the file is read again when the connection is made again."""
    old, new = make_nats_account(), make_nats_account()
    (tmp_path / "creds").write_text(old.credentials)
    with running_nats(config=old.config) as server:
        url = server.url(credentials="file://creds")
        connection = NatsConnection(parse_address(url), secrets=FileSecrets(tmp_path))
        await connection.client()
        before = connection.generation
        server.kill()
        server.configure(new.config)
        (tmp_path / "creds").write_text(new.credentials)
        server.start()
        async with asyncio.timeout(DEADLINE):
            while connection.generation == before or not connection.connected:
                with contextlib.suppress(BusUnavailableError):
                    await connection.client()
                await asyncio.sleep(0.05)
        assert b"account_info_response" in await connection.request("$JS.API.INFO")
        await connection.close()


@pytest.mark.parametrize("text", ["no credentials at all", "-----BEGIN NATS USER JWT-----\nabc\n"])
async def test_a_credentials_file_that_is_none_is_said_and_not_quoted(tmp_path: Path, text: str) -> None:
    """Whoever reads readiness knows which setting it is."""
    (tmp_path / "creds").write_text(text)
    with running_nats(config=make_nats_account().config) as server:
        with pytest.raises(BusUnavailableError, match="credentials") as refused:
            await _check(server.url(credentials="file://creds"), tmp_path)
        assert "abc" not in str(refused.value)


async def test_mutual_tls_shows_our_own_certificate(tmp_path: Path) -> None:
    """The server asks for one: with it we come in, without it, or with another, the words name the options."""
    server_side = make_certificate(tmp_path / "server")
    ours, other = make_certificate(tmp_path / "ours"), make_certificate(tmp_path / "other")
    config = (
        f'tls {{ cert_file: "{server_side.cert_file}", key_file: "{server_side.key_file}", '
        f'ca_file: "{ours.cert_file}", verify: true }}'
    )
    with running_nats(config=config, scheme="tls") as server:
        ca = server_side.cert_file
        assert await _check(server.url(ca=ca, cert=ours.cert_file, key=ours.key_file))
        with pytest.raises(BusUnavailableError, match=r"\?cert=.*key="):
            await _check(server.url(ca=ca))
        with pytest.raises(BusUnavailableError, match=r"\?cert=.*key="):
            await _check(server.url(ca=ca, cert=other.cert_file, key=other.key_file))
        missing = tmp_path / "nothing.pem"
        with pytest.raises(BusUnavailableError, match="a file that TIDINGS_BUS_URL names is missing"):
            await _check(server.url(ca=ca, cert=missing, key=missing))
        with pytest.raises(BusUnavailableError, match="do not belong together"):
            await _check(server.url(ca=ca, cert=ours.cert_file, key=other.key_file))
        with pytest.raises(BusUnavailableError, match="no file of certificates"):
            await _check(server.url(ca=ours.key_file))


async def test_a_server_that_knows_users_by_their_certificates(tmp_path: Path) -> None:
    """`verify_and_map`: no password, the name in the certificate is the user."""
    server_side, ours = (
        make_certificate(tmp_path / "server"),
        make_certificate(tmp_path / "ours", name="tidings.local"),
    )
    config = (
        f'tls {{ cert_file: "{server_side.cert_file}", key_file: "{server_side.key_file}", '
        f'ca_file: "{ours.cert_file}", verify_and_map: true }}\n'
        'authorization { users: [{ user: "tidings.local" }] }'
    )
    with running_nats(config=config, scheme="tls") as server:
        assert await _check(server.url(ca=server_side.cert_file, cert=ours.cert_file, key=ours.key_file))


async def test_one_of_several_servers_is_enough(nats_server: NatsServer) -> None:
    """Those that don't answer are passed over."""
    url = f"nats://127.0.0.1:1,127.0.0.1:{nats_server.port},127.0.0.1:2"
    for _ in range(4):
        assert await _check(Secret(url))


async def test_a_server_without_jetstream_is_said() -> None:
    """It can be reached, and is of no use."""
    with running_nats(jetstream=False) as server:
        connection = NatsConnection(parse_address(server.url()))
        with pytest.raises(BusUnavailableError, match="switched on with -js"):
            await connection.request("$JS.API.INFO")
        await connection.close()


@pytest.mark.parametrize(
    ("url", "remedy"),
    [
        ("kafka://host", "must be postgres: or a URL of the form nats://"),
        ("nats://", "must be postgres: or a URL of the form nats://"),
        ("nats://host:70000", "must be postgres: or a URL of the form nats://"),
        ("nats://host,ho st", "must be postgres: or a URL of the form nats://"),
        ("nats://host?replica=3", "option that is not known .replica."),
        ("nats://host?replicas=many", "replicas"),
        ("nats://host?prefix=a.b", "prefix"),
        ("nats://host?storage=tape", "storage"),
        ("nats://host?token=s3cret", "a secret where a reference belongs"),
    ],
)
def test_a_url_that_is_wrong_has_a_remedy(url: str, remedy: str) -> None:
    """One line, without a secret in it."""
    with pytest.raises(BadValueError, match=remedy) as refused:
        parse_address(Secret(url))
    assert "s3cret" not in str(refused.value)


def test_a_url_may_say_much() -> None:
    """Hosts, login, name, copies."""
    address = parse_address(
        Secret("tls://us%40er:p%3Aw@a:1,b,[::1]:4223?prefix=house&replicas=3&storage=memory")
    )

    assert address.servers == ("tls://a:1", "tls://b:4222", "tls://[::1]:4223")
    assert (address.user, address.password) == ("us@er", Secret("p:w"))
    assert (address.prefix, address.replicas, address.storage, address.tls) == ("house", 3, "memory", True)
