"""A seat for a person: one table with bots in the other seats, in the browser of this machine or in its terminal.

The person's seat dials in over the wire as a bot does; its brain is a page or a terminal. ``table`` is that brain: it follows
the game, judges what the person wants to do before it is sent, and says all of it as a ``State``. ``game`` plays, ``web`` and
``terminal`` show.
"""
