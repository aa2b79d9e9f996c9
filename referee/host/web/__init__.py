"""The site of a host: its pages, its API, and what keeps them safe. ``app`` makes it, ``serve`` runs it."""

from referee.host.web.routes import app
from referee.host.web.server import serve

__all__ = ["app", "serve"]
