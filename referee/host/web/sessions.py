"""Who is looked at by a browser: signed cookies, and the tokens that show that a form is one of ours."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Final

from itsdangerous import BadData, URLSafeTimedSerializer

COOKIE: Final = "referee_session"
LASTS_S: Final = 30 * 86_400
"""A session ends after 30 days."""


@dataclass(frozen=True, slots=True)
class Session:
    """What a cookie holds. ``owner``: whose session it is, 0 for nobody's; ``token``: the token that began it, if one did."""

    nonce: str
    owner: int = 0
    token: int = 0


class Sessions:
    """Makes and reads sessions, signed with the secret of a host."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._serializer = URLSafeTimedSerializer(
            secret, salt="referee-session", signer_kwargs={"digest_method": hashlib.sha256}
        )

    @staticmethod
    def new(owner: int = 0, token: int = 0) -> Session:
        """A session that nobody has had before."""
        return Session(secrets.token_urlsafe(18), owner, token)

    def written(self, session: Session) -> str:
        """The session as its cookie holds it."""
        return str(self._serializer.dumps([session.nonce, session.owner, session.token]))

    def read(self, cookie: str | None) -> Session | None:
        """The session of a cookie; ``None`` if it is not ours, or too old."""
        try:
            nonce, owner, token = self._serializer.loads((cookie or "")[:500], max_age=LASTS_S)
        except (BadData, ValueError, TypeError):
            return None
        return Session(str(nonce), int(owner), int(token))

    def form_token(self, session: Session) -> str:
        """What a form of this session has to bring."""
        return hmac.new(self._secret.encode(), f"form {session.nonce}".encode(), "sha256").hexdigest()

    def is_form_token(self, session: Session | None, given: str) -> bool:
        """Whether a form has brought what it has to."""
        known = self.form_token(session) if session is not None else ""
        return bool(known) and hmac.compare_digest(known.encode(), given.encode("utf-8", "replace"))
