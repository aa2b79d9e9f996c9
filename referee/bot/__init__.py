"""Write a bot: everything that a bot author needs, and nothing else of Referee.

A bot is a function from a turn to one of ``turn.legal``:

    from referee.bot import Bot, run

    class RandomBot(Bot):
        def choose(self, turn):
            return turn.rng.choice(turn.legal)

    run(RandomBot())

``run(lambda turn: turn.rng.choice(turn.legal))`` does the same; ``choose`` may be ``async def`` too. A turn holds all
that your seat may know, so ``choose`` need not remember anything, and must not rely on having seen the turns before:
turns of many games come mixed, and after a restart a game goes on in the middle.

What ``choose`` returns, by ``turn.kind``: a card (PLAY), an amount with 0 = pass (BID), a ``Suit`` (NAME_TRUMP), a
``Call`` (STAND_OR_BEG, ANSWER_BEG), or the cards that you KEEP (DISCARD). What is no answer at all ends the bot with a
traceback that shows the turn. An illegal action is sent as it is: the referee's ruling says what was wrong.

Test a bot without a referee by giving it a turn: ``choose(Turn(wire.Turn(...)))``.
"""

import sys
from collections.abc import Awaitable, Callable, Iterable
from typing import ClassVar, NoReturn, TypeAlias

from referee.bot._cards import (
    ACE,
    JACK,
    KING,
    PACK,
    QUEEN,
    RANKS,
    TEN,
    Call,
    Card,
    Event,
    EventKind,
    Kind,
    Objective,
    Suit,
    cards_text,
    parse_cards,
)
from referee.bot._output import MARK
from referee.bot._turn import Keeps, Turn, events, suit_or_none
from referee.protocol import wire

Action: TypeAlias = int | Iterable[int]
"""What ``choose`` returns: a card, an amount, a suit or a call (all are integers), or the cards to keep."""

Choose: TypeAlias = Callable[[Turn], Action | Awaitable[Action]]
"""A bot as a plain function, or an ``async def``."""

_SAID_AT_MOST = 200
_OUTCOMES = {number: name.removeprefix("RULING_OUTCOME_").lower() for name, number in wire.RulingOutcome.items()}


class Bot:
    """A bot. Write ``choose``; the rest is optional.

    The attributes go into the Join: the name to be shown (empty = the referee chooses), your version, the variants that
    you play (empty = all), how many turns you take at once, and whether you remember things from turn to turn that
    matter. A local bot's name, version and variants stand in its bot.toml.
    """

    name: str = ""
    version: str = ""
    variants: tuple[str, ...] = ()
    max_in_flight: int = 64
    stateful: bool = False

    hooks: ClassVar[tuple[str, ...]] = ("game_started", "deal_over", "game_over")

    def choose(self, turn: Turn) -> Action | Awaitable[Action]:
        """Your decision: one of ``turn.legal``. May be ``async def``; the turns of a batch then run side by side."""
        raise NotImplementedError(f"{type(self).__name__} has no choose: write def choose(self, turn)")

    def joined(self, joined: wire.Joined) -> None:
        """You are in: limits, objective, rule sets. Comes once more after each reconnect."""

    def game_started(self, started: wire.GameStarted) -> None:
        """A game begins. News is sent only to bots that write one of these three hooks."""

    def deal_over(self, over: wire.DealOver) -> None:
        """A deal has been counted. ``events(over.history)`` reads its history."""

    def game_over(self, over: wire.GameOver) -> None:
        """A game has ended."""

    def ruling(self, ruling: wire.Ruling) -> None:
        """The referee has judged a move of yours. Unless you write this hook, every sentence is printed once."""
        _tell(ruling)

    @property
    def wants_notices(self) -> bool:
        """Whether one of the three hooks for news is written."""
        return any(getattr(type(self), hook) is not getattr(Bot, hook) for hook in self.hooks)


def run(bot: Bot | Choose, *, receipts: str | None = None) -> NoReturn:
    """Plays until the referee says farewell, then exits the process with code 0.

    Reads REFEREE_ADDRESS (``unix:/path``, ``tcp:host:port`` or ``tls:host:port``), REFEREE_TOKEN and, for tls,
    REFEREE_CA (a file with the certificate to trust; absent = the usual authorities). Exits with 1 when the referee
    cannot be reached or is lost, or when your code raises; with 2 when nobody said where the referee is; with 130 on
    Ctrl-C. A lost connection over tcp or tls is dialled again for 30 s.

    ``receipts`` is the file in which a receipt of each game is kept, for ``referee verify --receipts``; "off" keeps none. Absent =
    the file that REFEREE_RECEIPTS names, or over tcp and tls ``leagues/NAME.receipts``.
    """
    try:
        from referee.bot._dial import serve  # here, for a test of a bot has no use for it

        player, choose = (bot, bot.choose) if isinstance(bot, Bot) else (Bot(), bot)
        code = serve(player, choose, receipts=receipts)
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


_said: set[str] = set()


def _tell(ruling: wire.Ruling) -> None:
    """Prints the sentence of a ruling, each once, and not without end."""
    if ruling.sentence in _said or len(_said) > _SAID_AT_MOST:
        return
    _said.add(ruling.sentence)
    outcome = _OUTCOMES.get(ruling.outcome, f"outcome {ruling.outcome}")
    rule = f"{ruling.rule_id}: " if ruling.rule_id else ""
    more = "; further rulings are not printed" if len(_said) > _SAID_AT_MOST else ""
    print(f"{MARK}ruling on turn {ruling.turn_id}: {rule}{ruling.sentence} [{outcome}{more}]", file=sys.stderr)


__all__ = [
    "ACE",
    "JACK",
    "KING",
    "PACK",
    "QUEEN",
    "RANKS",
    "TEN",
    "Action",
    "Bot",
    "Call",
    "Card",
    "Choose",
    "Event",
    "EventKind",
    "Keeps",
    "Kind",
    "Objective",
    "Suit",
    "Turn",
    "cards_text",
    "events",
    "parse_cards",
    "run",
    "suit_or_none",
    "wire",
]
