"""The host's own certificate: what ``[host]`` names, looked at before the start, taken up again when it is renewed."""

import logging
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from referee.league.definition.definition import Definition
from referee.net.server_certificate import ServerCertificate

LOOK_S: Final = 5.0
"""How often the files should be looked at."""

_LOG: Final = logging.getLogger("referee.host.certificate")
_DAY_S: Final = 86_400.0
_WARN_S: Final = 14 * _DAY_S
"""So long before its end it is told that nobody has renewed the certificate: who does it by machine does it earlier."""


def certificate_of(definition: Definition, protocols: Sequence[str]) -> ServerCertificate | None:
    """The certificate that ``[host]`` names, for a server that speaks ``protocols`` inside TLS; ``None`` if it names none.

    Raises ``ListenError``, which names the field, the file and the remedy.
    """
    section = definition.host_section
    if section.certificate is None or section.key is None:
        return None
    return ServerCertificate(
        str(definition.folder / section.certificate),
        str(definition.folder / section.key),
        protocols,
        names=(f"{definition.file}: [host] certificate", f"{definition.file}: [host] key"),
        host=(urlsplit(section.url).hostname or "") if section.url else "",
    )


class CertificateWatch:
    """Looks after a certificate while its server runs, and puts what the organiser has to know into the log."""

    def __init__(self, certificate: ServerCertificate) -> None:
        self._certificate = certificate
        self._warned = float("-inf")

    def look(self, now: float) -> None:
        """Takes up renewed files. ``now``: in seconds since 1970. Call it every ``LOOK_S`` seconds."""
        try:
            if self._certificate.refresh():
                _LOG.log(25, "the renewed certificate is in use")
                self._warned = float("-inf")
        except OSError as error:  # most often a ``ListenError``
            _LOG.warning("the certificate of before stays in use: %s", error)
        left = self._certificate.expires - now
        if left < _WARN_S and now - self._warned >= _DAY_S:
            self._warned = now
            told = f"expires in {left / _DAY_S:.0f} days" if left > 0 else "has expired, and nobody trusts it"
            _LOG.warning("the certificate of the host %s: renew it; it is taken up without a restart", told)
