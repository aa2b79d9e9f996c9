"""A bot's side of one connection: join, answer batches, leave. Use it through ``referee.bot.run``."""

import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from types import MethodType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, cast

from referee import __version__
from referee.bot._cards import Kind, Objective
from referee.bot._receipts import Receipts
from referee.bot._stream import RefereeStream, StreamError
from referee.bot._turn import Turn
from referee.protocol import wire

if TYPE_CHECKING:
    import asyncio  # loaded for an ``async def choose`` alone: it takes as long as everything else here

FLUSH_S: Final = 0.010
"""How long an answer may wait for company."""

MOVES_A_MESSAGE: Final = 500
"""Far below the 64 KiB that the referee takes in one message."""

_COROUTINE: Final = 0x80
"""The flag of an ``async def`` (``inspect.CO_COROUTINE``)."""

_OBJECTIVES: Final = {int(objective): objective for objective in Objective}

Choose: TypeAlias = Callable[[Turn], int | Iterable[int] | Awaitable[int | Iterable[int]]]
Send: TypeAlias = Callable[[wire.PlayRequest], object]


class BotHooks(Protocol):
    """What the session needs of a ``Bot``."""

    name: str
    version: str
    variants: tuple[str, ...]
    max_in_flight: int
    stateful: bool

    @property
    def wants_notices(self) -> bool:
        """Whether notices are asked for."""
        ...

    def joined(self, joined: wire.Joined) -> None:
        """The session is open."""

    def game_started(self, started: wire.GameStarted) -> None:
        """A game begins."""

    def deal_over(self, over: wire.DealOver) -> None:
        """A deal is counted."""

    def game_over(self, over: wire.GameOver) -> None:
        """A game has ended."""

    def ruling(self, ruling: wire.Ruling) -> None:
        """Something was judged."""


class BotError(Exception):
    """The bot's own code has raised, or has returned what is no answer. ``where`` says at which turn or news."""

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.where = where


class NoAnswer(TypeError):
    """What ``choose`` has returned is no answer to the turn."""


class Batch:
    """Writes answers into requests, and hands a request over when it is due."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._request = wire.PlayRequest()
        self._sent = time.monotonic()

    def add(self, turn: Turn, answer: Any) -> None:
        """Adds an answer; raises ``NoAnswer`` if it is none."""
        moves: Any = self._request.moves  # answers are plain integers; the stubs have a type for each enum's numbers
        move = moves.add()
        message = turn.message
        move.turn_id = message.turn_id
        kind: int = message.kind
        try:
            if answer is True or answer is False:
                raise TypeError("a truth value is no choice")  # noqa: TRY301  # judged as any other wrong type
            if kind == Kind.PLAY:
                move.card = answer
            elif kind == Kind.BID:
                move.bid = answer
            elif kind == Kind.NAME_TRUMP:
                move.suit = answer + 1
            elif kind == Kind.DISCARD:
                move.kept.extend(answer)
            else:
                move.call = answer
        except (TypeError, ValueError):
            del moves[-1]
            raise NoAnswer(_what_is_wrong(turn, answer)) from None
        if len(moves) >= MOVES_A_MESSAGE or time.monotonic() - self._sent > FLUSH_S:
            self.flush()

    def flush(self) -> None:
        """Sends what is ready."""
        if self._request.moves:
            self._send(self._request)
            self._request = wire.PlayRequest()
        self._sent = time.monotonic()


def _what_is_wrong(turn: Turn, answer: object) -> str:
    found = "None (is a return missing?)" if answer is None else f"{answer!r}, a {type(answer).__name__}"
    wanted = "a list of the cards to keep" if turn.kind is Kind.DISCARD else "one of turn.legal"
    return f"choose returned {found}; a turn of kind {turn.kind.name} is answered with {wanted}"


class BotClient:
    """One bot and its connections to the referee, one after another."""

    def __init__(self, bot: BotHooks, choose: Choose, receipts: Receipts | None = None) -> None:
        """``heard`` tells whether the referee has said anything on the last connection."""
        self._bot, self._choose, self._receipts = bot, choose, receipts
        self._rules: dict[int, wire.RuleSet] = {}
        self._objective = Objective.UNSPECIFIED
        self._runner = _runner() if _is_async(choose) else None
        self.heard = False

    def close(self) -> None:
        """Ends the event loop of an ``async def choose``."""
        if self._runner:
            self._runner.close()

    def join(self) -> wire.PlayRequest:
        """The first message."""
        bot = self._bot
        join = wire.Join(
            name=bot.name,
            version=bot.version,
            sdk=f"referee.bot {__version__}",
            language="python",
            variants=bot.variants,
            max_in_flight=bot.max_in_flight,
            stateful=bot.stateful,
            wants_notices=bot.wants_notices,
            wants_receipts=self._receipts is not None,
        )
        return wire.PlayRequest(join=join)

    def play(self, stream: RefereeStream) -> wire.Farewell:
        """Plays one connection to its farewell; raises ``StreamError`` when it breaks, ``BotError`` for the bot's."""
        self.heard = False
        stream.send(self.join())
        try:
            for response in stream:
                self.heard = True
                self._take(response, stream)
                if response.HasField("farewell"):
                    stream.half_close()
                    stream.drain()
                    return response.farewell
        except BotError:
            _deliver(stream)
            raise
        raise StreamError(0)

    def _take(self, response: wire.PlayResponse, stream: RefereeStream) -> None:
        """Deals with one message, its fields in the order in which the protocol has them."""
        if response.HasField("joined"):
            self._joined(response.joined)
        for ruling in response.rulings:
            self._hook("ruling", ruling)
        for notice in response.notices:
            self._notice(notice)
        if self._receipts is not None and response.receipts:
            self._receipts.keep(response.receipts)
        if not response.turns:
            return
        batch = Batch(stream.send)
        turns = [Turn(message, self._rules.get(message.rule_set_id), self._objective) for message in response.turns]
        try:
            if self._runner:
                self._runner.run(self._answer_together(turns, batch))
            else:
                self._answer(turns, batch, stream)
        finally:
            batch.flush()

    def _joined(self, joined: wire.Joined) -> None:
        self._rules = {rules.rule_set_id: rules for rules in joined.rule_sets}
        self._objective = _OBJECTIVES.get(joined.objective, Objective.UNSPECIFIED)
        if self._receipts is not None:
            self._receipts.joined(joined.name, joined.commitment)
        self._hook("joined", joined)

    def _notice(self, notice: wire.Notice) -> None:
        if notice.game_started.HasField("rule_set"):
            rules = notice.game_started.rule_set
            self._rules[rules.rule_set_id] = rules
        news = notice.WhichOneof("news")
        if news is not None:
            self._hook(news, getattr(notice, news))

    def _hook(self, name: str, news: Any) -> None:
        try:
            getattr(self._bot, name)(news)
        except Exception as error:
            raise BotError(f"{name}() with\n{news}") from error

    def _answer(self, turns: Sequence[Turn], batch: Batch, stream: RefereeStream) -> None:
        """Answers turn after turn, unless the referee has gone meanwhile."""
        choose = self._choose
        for turn in turns:
            try:
                batch.add(turn, choose(turn))
            except Exception as error:
                raise BotError(f"choose() at {turn}") from error
            if not stream.is_active():
                return

    async def _answer_together(self, turns: Sequence[Turn], batch: Batch) -> None:
        """Answers turns side by side, each as soon as it is decided."""
        import asyncio

        tasks: dict[asyncio.Future[Any], Turn] = {
            asyncio.ensure_future(cast("Awaitable[Any]", self._choose(turn))): turn for turn in turns
        }
        pending = set(tasks)
        try:
            while pending:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    self._answer_of(task, tasks[task], batch)
                batch.flush()
        finally:
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)

    def _answer_of(self, task: "asyncio.Future[Any]", turn: Turn, batch: Batch) -> None:
        try:
            batch.add(turn, task.result())
        except Exception as error:
            raise BotError(f"choose() at {turn}") from error


def _is_async(choose: Choose) -> bool:
    """Whether it is an ``async def``, bound or not; without ``inspect``, which takes longer to load than much of this."""
    function: Any = choose
    while isinstance(function, MethodType | partial):
        function = function.__func__ if isinstance(function, MethodType) else function.func
    code = getattr(function, "__code__", None)
    return code is not None and bool(code.co_flags & _COROUTINE)


def _runner() -> "asyncio.Runner":
    import asyncio

    return asyncio.Runner()


def _deliver(stream: RefereeStream) -> None:
    """Before the bot ends for an error of its own: lets the answers that it has given go out, for a second at most."""
    timer = threading.Timer(1.0, stream.cancel)
    timer.start()
    stream.half_close()
    stream.drain()
    timer.cancel()
