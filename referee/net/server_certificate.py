"""The certificate of a server that runs for months: whoever renews its files need not start the server again."""

import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from referee.net.listening import check_certificate, check_private

_Signature = tuple[tuple[int, int, int, int], ...]


class ServerCertificate:
    """A certificate and its key, two files in PEM form, and the TLS that a server speaks with them.

    ``context`` is for the server. Connections that begin after ``refresh`` has found renewed files get the new certificate,
    whatever kind of key it has; those that are open keep theirs.
    """

    def __init__(
        self,
        certificate: str,
        key: str,
        protocols: Sequence[str],
        *,
        names: tuple[str, str] = ("certificate", "key"),
        host: str = "",
    ) -> None:
        """``protocols``: what the server speaks inside TLS, such as ``h2``; ``names``: what errors call the two files;
        ``host``: the name that the certificate has to be for. Raises ``ListenError``.
        """
        self._files, self._protocols, self._names, self._host = (certificate, key), list(protocols), names, host
        self._taken = self._seen = self._signature()
        self.expires = 0.0
        """Until when it is valid, in seconds since 1970."""
        self._newest: Final = [self._load()]
        self.context: Final = self._newest[0]
        self.context.sni_callback = self._hand_over

    def refresh(self) -> bool:
        """Takes the files up if they have changed since the last time, and rest; whether it did. Call it now and then.

        Raises ``ListenError``, once for each change, where they will not do: the certificate of before stays in use.
        """
        now = self._signature()
        if now != self._seen:  # somebody may be writing them at this moment
            self._seen = now
            return False
        if now == self._taken:
            return False
        self._taken = now
        self._newest[:] = [self._load()]
        return True

    def _load(self) -> ssl.SSLContext:
        check_private(self._files[1], self._names[1])
        expires = check_certificate(*self._files, self._names, self._host)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.options |= ssl.OP_NO_RENEGOTIATION
        context.set_alpn_protocols(self._protocols)
        context.load_cert_chain(*self._files)
        self.expires = expires
        return context

    def _hand_over(self, connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        """Called for each connection when its client has said hello."""
        connection.context = self._newest[0]

    def _signature(self) -> _Signature:
        found = []
        for file in self._files:
            try:
                one = Path(file).stat()  # of what a link leads to: renewal may change the link alone
            except (OSError, ValueError):
                found.append((0, 0, 0, 0))
            else:
                found.append((one.st_dev, one.st_ino, one.st_mtime_ns, one.st_size))
        return tuple(found)
