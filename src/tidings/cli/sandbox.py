"""`tidings sandbox`: the stand-in for vendors, alone."""

from typing import Annotated

import typer

SmtpPort = Annotated[int, typer.Option("--smtp-port", min=0, max=65535, help="Port for mail; 0 for any.")]
HttpPort = Annotated[
    int,
    typer.Option("--http-port", min=0, max=65535, help="Port for the page and the vendor's API; 0 for any."),
]
SmppPort = Annotated[int, typer.Option("--smpp-port", min=0, max=65535, help="Port for SMPP; 0 for any.")]
ApnsPort = Annotated[
    int, typer.Option("--apns-port", min=0, max=65535, help="Port for APNs, over HTTP/2; 0 for any.")
]
KeptMessages = Annotated[int, typer.Option("--keep", min=1, help="How many messages are kept.")]
KeptMegabytes = Annotated[int, typer.Option("--keep-mb", min=1, help="How many megabytes of them are kept.")]


def sandbox(
    *,
    smtp_port: SmtpPort = 2525,
    http_port: HttpPort = 8025,
    smpp_port: SmppPort = 2775,
    apns_port: ApnsPort = 2197,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    keep: KeptMessages = 10_000,
    keep_mb: KeptMegabytes = 64,
) -> None:
    """Run the stand-in for vendors alone: it speaks SMTP, SMPP, APNs and other vendors' own protocols, shows what it takes, sends receipts, and fails on demand."""
    import uvloop

    uvloop.run(_run((smtp_port, http_port, smpp_port, apns_port), host, keep, keep_mb))


async def _run(ports: tuple[int, int, int, int], host: str, keep: int, keep_mb: int) -> None:
    import asyncio
    import signal

    from tidings.kernel.clock import SystemClock
    from tidings.sandbox import Sandbox

    stop = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    running = Sandbox(
        SystemClock(),
        host=host,
        smtp_port=ports[0],
        http_port=ports[1],
        smpp_port=ports[2],
        apns_port=ports[3],
        most_messages=keep,
        most_bytes=keep_mb * 1024 * 1024,
    )
    async with running:
        print(
            f"""
The sandbox is running; nothing that it takes goes anywhere else.

  Messages  {running.url}/
  SMTP      {host}:{running.smtp_port}
  SMPP      {host}:{running.smpp_port}
  APNs      {running.apns_url} as the api_url of an account, over HTTP/2
  HTTP      {running.url}/vendors/NAME/messages
  Vendors   {running.url}/twilio and so on, as the api_url of an account
  Webhooks  {running.receiver_url}, and other names: shows what it is told
  Upstreams {running.property_url} as TIDINGS_UPSTREAM_URL: three hotels and a school

Ctrl-C stops it.
""",
            flush=True,
        )
        await stop.wait()
