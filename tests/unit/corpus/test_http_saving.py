"""Saving what is fetched to a file: checked as it comes, and never from a name that leads inside."""

import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from corpus.gateways.bodies import BadBody, Wanted
from corpus.gateways.http import Outbound, OutboundError
from corpus.gateways.pace import Pace

PDF = ("application/pdf",)


class _Redirecting(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(302)
        self.send_header("Location", "https://rebinding.example/x.pdf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Stay silent."""


class _Secure(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """Stay silent."""


def _certificate(folder: Path, host: str) -> Path:
    """Write a certificate that vouches for itself, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return file


@pytest.fixture
def secure_port(tmp_path: Path, monkeypatch) -> Iterator[int]:
    """The port of a publisher with TLS that sends everybody on to a name that leads inside."""
    file = _certificate(tmp_path, "publisher.example")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    server = _Secure(("127.0.0.1", 0), _Redirecting)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
    thread.join(5)


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], ["::1"], ["169.254.169.254"], ["93.184.216.34", "127.0.0.1"]]
)
def test_a_redirect_to_a_name_that_leads_inside_is_refused_where_the_name_is_looked_up(
    secure_port: int, addresses: list[str]
) -> None:
    asked = []

    def look_up(host: str, _port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if host == "publisher.example" else addresses

    listed = [f"publisher.example:{secure_port}"]
    target = BytesIO()
    address = f"https://publisher.example:{secure_port}/a.pdf"
    with (
        Outbound(contact="a@b.example", listed=listed, look_up=look_up, pace=Pace()) as outbound,
        pytest.raises(OutboundError) as raised,
    ):
        outbound.save(address, target, accept=PDF, most_bytes=1_000, signature=b"%PDF-")

    assert raised.value.code == "forbidden_address"
    # Once each: what was checked is what would have been connected to.
    assert asked == ["publisher.example", "rebinding.example"]
    assert target.getvalue() == b""


def test_a_body_goes_to_its_target_and_is_not_held() -> None:
    target = BytesIO()

    held = Wanted(PDF, 100, target, b"%PDF-").saved([b"junk %P", b"DF-1.7 ", b"rest"])

    assert (held, target.getvalue()) == (b"", b"junk %PDF-1.7 rest")


@pytest.mark.parametrize(
    ("pieces", "code"),
    [
        ([b"%PDF-", b"x" * 96], "too_large"),
        ([b"%PDF"], "wrong_signature"),
        ([], "wrong_signature"),
        ([b" " * 60, b" " * 41], "too_large"),
    ],
)
def test_a_body_that_is_not_what_it_has_to_be_is_named(pieces: list[bytes], code: str) -> None:
    with pytest.raises(BadBody) as raised:
        Wanted(PDF, 100, BytesIO(), b"%PDF-").saved(pieces)

    assert raised.value.code == code


def test_a_signature_beyond_the_window_is_none_and_the_rest_is_not_read() -> None:
    read = []

    def pieces() -> Iterator[bytes]:
        for piece in (b" " * 1_024, b"%PDF-1.7", b"rest"):
            read.append(piece)
            yield piece

    with pytest.raises(BadBody, match="wrong_signature"):
        Wanted(PDF, 10_000, BytesIO(), b"%PDF-").saved(pieces())
    assert len(read) == 1


def test_a_disk_that_refuses_is_not_the_hosts_failure() -> None:
    class Full(BytesIO):
        def write(self, _piece: object) -> int:
            raise OSError(28, "No space left on device")

    with pytest.raises(BadBody, match="not_stored"):
        Wanted(PDF, 100, Full(), b"").saved([b"%PDF-1.7"])
