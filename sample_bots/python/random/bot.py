"""Plays any legal move: the shortest bot there is."""

from typing import Any

from referee.bot import Bot, Turn, run


class RandomBot(Bot):
    """Any legal move, each with the same chance."""

    def choose(self, turn: Turn) -> Any:
        """One of what is legal, drawn with the turn's own chance, so that a game can be played again."""
        return turn.rng.choice(turn.legal)


if __name__ == "__main__":
    run(RandomBot())
