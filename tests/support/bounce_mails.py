"""Mails as mail servers send them to a return path, and a way to bring them there."""

import asyncio
import smtplib
from email.mime.text import MIMEText


def delivery_status(
    to: str,
    *,
    action: str = "failed",
    status: str = "5.1.1",
    diagnostic: str | None = "smtp; 550 5.1.1 <laila@example.test>: no such user",
) -> bytes:
    """A delivery status notification of RFC 3464."""
    lines = ["Reporting-MTA: dns; mx.example.test", "", "Final-Recipient: rfc822; somebody@else.example"]
    lines += [f"Action: {action}", f"Status: {status}"]
    lines += [f"Diagnostic-Code: {diagnostic}"] if diagnostic else []
    return _report(to, "delivery-status", "\n".join(lines) + "\n")


def feedback(to: str, *, kind: str = "abuse", original_mail_from: str | None = None) -> bytes:
    """A feedback report of RFC 5965."""
    lines = [f"Feedback-Type: {kind}", "User-Agent: SomeFBL/1.0", "Version: 1"]
    lines += [f"Original-Mail-From: <{original_mail_from}>"] if original_mail_from else []
    return _report(to, "feedback-report", "\n".join(lines) + "\n")


def auto_reply(to: str) -> bytes:
    """Somebody is away."""
    mail = MIMEText("I am on holiday until Monday. Your mail 5.1.1 will be read then.")
    mail["From"], mail["To"], mail["Subject"] = "laila@example.test", to, "Out of office"
    mail["Auto-Submitted"] = "auto-replied"
    return mail.as_bytes()


def _report(to: str, kind: str, fields: str) -> bytes:
    lines = [
        "From: MAILER-DAEMON@mx.example.test",
        f"To: {to}",
        "Subject: Undelivered Mail",
        "Date: Sun, 15 Nov 2026 12:00:00 +0000",
        "Auto-Submitted: auto-replied",
        "MIME-Version: 1.0",
        f'Content-Type: multipart/report; report-type={kind}; boundary="edge"',
        "",
        "This is a MIME-encapsulated message.",
        "",
        "--edge",
        "Content-Type: text/plain",
        "",
        "This is the mail system at host mx.example.test.",
        "",
        "--edge",
        f"Content-Type: message/{kind}",
        "",
        *fields.splitlines(),
        "",
        "--edge",
        "Content-Type: message/rfc822",
        "",
        "Subject: Your order",
        "",
        "Green tea",
        "",
        "--edge--",
        "",
    ]
    return "\r\n".join(lines).encode()


async def bring(
    port: int, to: str | list[str], mail: bytes, *, sender: str = ""
) -> dict[str, tuple[int, bytes]]:
    """Bring a mail there by SMTP; who it was refused for, and how."""

    def speak() -> dict[str, tuple[int, bytes]]:
        with smtplib.SMTP("127.0.0.1", port) as client:
            client.local_hostname = "mx.example.test"
            try:
                return client.sendmail(sender, to, mail)
            except smtplib.SMTPRecipientsRefused as refused:
                return dict(refused.recipients)
            except smtplib.SMTPDataError as refused:
                error = refused.smtp_error
                return {"": (refused.smtp_code, error if isinstance(error, bytes) else error.encode())}

    return await asyncio.to_thread(speak)


async def converse(port: int, *pieces: bytes, pause: float = 0.0) -> list[str]:
    """Say this, piece by piece, and nothing more; the codes of all that is answered until the other side hangs up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)
        writer.write_eof()
        answered = (await reader.read()).decode()
    except ConnectionError:
        return []
    finally:
        writer.close()
    return [line[:3] for line in answered.splitlines() if line[3:4] == " "]
