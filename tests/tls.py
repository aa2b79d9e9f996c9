"""A certificate for this machine alone, and its key: self-made, of no worth anywhere. Valid for a hundred years.

Made with: openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj /CN=localhost
-addext subjectAltName=DNS:localhost,IP:127.0.0.1
"""

from pathlib import Path

CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUcLDoBL2CaFztt+zM2sGaNnMjwpkwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyOTIyNDEyMloYDzIxMjYxMTA1
MjI0MTIyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQyCvlSBqLjpDJZVfUsKdBSd/4fKj5YktE5Cr/3hA7svyQ4G+QMJPB+
GNudfp5MT+SQqcM8ym4DzVzXpemVaI2wo28wbTAdBgNVHQ4EFgQUAGlkXU/6eu/B
X3vBomoIxkqACgQwHwYDVR0jBBgwFoAUAGlkXU/6eu/BX3vBomoIxkqACgQwGgYD
VR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZI
zj0EAwIDSAAwRQIgNQwow8yScf8f7yEZ8yAB4h7n8ssmh0i4mIuwACrW2QcCIQDi
VcaNBns9QgXAk1ql//wsil4p+Gw+/L49jbbHkBbMQg==
-----END CERTIFICATE-----
"""

KEY = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgAOLrJtOYZyqXaaiW
rIhyrNsFcNuqQ6atPKQZjsiR6PGhRANCAAQyCvlSBqLjpDJZVfUsKdBSd/4fKj5Y
ktE5Cr/3hA7svyQ4G+QMJPB+GNudfp5MT+SQqcM8ym4DzVzXpemVaI2w
-----END PRIVATE KEY-----
"""


def write_pair(folder: Path) -> tuple[str, str]:
    """The files of the certificate and its key, written into a folder."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    certificate.write_text(CERTIFICATE)
    key.write_text(KEY)
    return str(certificate), str(key)
