"""A good bot, for the bad ones to play against. It is no bad bot."""

from referee.bot import run

run(lambda turn: turn.rng.choice(turn.legal))
