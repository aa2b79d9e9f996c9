"""The parts of ``referee.bot``, the library for bot authors. Import from ``referee.bot``, never from here."""
