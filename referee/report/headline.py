"""Who is better and how sure that is, in plain sentences made from the standings alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from referee.report.number_format import UNITS, between, figure
from referee.statistics.intervals import FEWEST_SETS
from referee.statistics.standings import Standings, StandingsRow

Sure = Literal["sure", "open", "early"]


@dataclass(frozen=True, slots=True)
class Headline:
    """``headline`` says who is better, ``sure`` and ``label`` whether that is certain, ``detail`` what it rests on.

    ``winner`` is the bot that is shown to be the best, if one is.
    """

    headline: str
    sure: Sure
    label: str
    detail: str
    winner: str | None = None


def judge(
    table: Standings, names: Mapping[str, str], copies: Mapping[str, str], *, finished: bool, same_packs: bool = True
) -> Headline:
    """The verdict of standings. ``names``: what to call each entrant; ``copies``: entrant to the bot it is a copy of."""
    ranked = [row for row in table.rows if row.status == "ranked"]
    if not ranked:
        return _early(table, names, copies, finished=finished)
    bots = list(dict.fromkeys(_bot(row, copies) for row in ranked))
    leaders = [row for row in ranked if row.rank_low == 1]
    best = list(dict.fromkeys(_bot(row, copies) for row in leaders))

    def called(bot: str) -> str:
        return names.get(bot, bot)

    if len(bots) == 1:
        return _copies(table, ranked, called(bots[0]), names)
    if len(best) == 1:
        return _won(table, ranked, best[0], called, copies, finished=finished, same_packs=same_packs)
    return _open(table, ranked, best, bots, called, names)


def _bot(row: StandingsRow, copies: Mapping[str, str]) -> str:
    return copies.get(row.entrant) or row.entrant


def _early(table: Standings, names: Mapping[str, str], copies: Mapping[str, str], *, finished: bool) -> Headline:
    if not table.games and finished:
        told = "No set of this league counts; why not stands below."
        return Headline("Nothing was scored.", "early", "no set counts", told)
    if not table.games:
        return Headline("Nothing is known yet.", "early", "no set is closed", "No set of this league is closed.")
    bots = {_bot(row, copies) for row in table.rows}
    if len(bots) == 1 and len(table.rows) > 1:
        bot = bots.pop()
        told = f"{names.get(bot, bot)} played against itself alone: who is better cannot be asked."
        return Headline(told, "open", "copies of one bot", _figure(table, table.rows[0], names))
    need = f"A rank needs {FEWEST_SETS} closed sets for each bot; the most that any has is "
    return Headline(
        "Too early to say who is better.",
        "early",
        "too few sets",
        f"{need}{max(row.sets for row in table.rows)}. {_figure(table, table.rows[0], names)}",
    )


def _copies(table: Standings, ranked: Sequence[StandingsRow], bot: str, names: Mapping[str, str]) -> Headline:
    """The verdict where only copies of one bot are ranked."""
    first = [row for row in ranked if row.rank_low == 1]
    if len(first) == len(ranked):
        headline = f"No difference seen between the {len(ranked)} copies of {bot}."
        return Headline(headline, "open", "copies of one bot", f"Each gets about {_gets(table, ranked[0])}.")
    ahead = _listed([names.get(row.entrant, row.entrant) for row in first])
    headline = f"Copies of {bot} differ: {ahead} {'is' if len(first) == 1 else 'are'} ahead."
    return Headline(headline, "open", "copies of one bot", _figure(table, ranked[0], names))


def _won(
    table: Standings,
    ranked: Sequence[StandingsRow],
    bot: str,
    called: Callable[[str], str],
    copies: Mapping[str, str],
    *,
    finished: bool,
    same_packs: bool,
) -> Headline:
    mine = [row for row in ranked if _bot(row, copies) == bot]
    others = [row for row in ranked if _bot(row, copies) != bot]
    number = len({_bot(row, copies) for row in others})
    than = called(_bot(others[0], copies)) if number == 1 else f"each of the {number} other bots"
    packs = "on the same packs, " if same_packs else ""
    subject = f"{'Both its copies are' if len(mine) == 2 else 'All its copies are'}" if len(mine) > 1 else "It is"
    shown = f"Compared set by set, {packs}{subject[0].lower()}{subject[1:]} better than {than}"
    next_best = f"{called(others[0].entrant)}, next, gets {figure(others[0].measure.mean)}."
    gets = _gets(table, mine[0])
    waiting = len(table.rows) - len(ranked)
    few = f" {waiting} of {len(table.rows)} have too few sets to be ranked." if waiting else ""
    return Headline(
        f"{called(bot)} {'won' if finished else 'is ahead'}.",
        "sure",
        f"certain at the {table.confidence:.0%} level" if finished else f"so far, at the {table.confidence:.0%} level",
        f"{shown}. It gets {gets}; {next_best}{few}",
        bot,
    )


def _open(
    table: Standings,
    ranked: Sequence[StandingsRow],
    best: Sequence[str],
    bots: Sequence[str],
    called: Callable[[str], str],
    names: Mapping[str, str],
) -> Headline:
    if len(best) == len(bots):
        headline = f"No winner: the {len(bots)} bots cannot be told apart at the top."
        if len(bots) == 2:
            headline = f"No winner: {called(best[0])} and {called(best[1])} cannot be told apart."
    elif len(best) <= 3:
        headline = f"No single winner: {_listed([called(bot) for bot in best])} cannot be told apart."
    else:
        headline = f"No single winner: {len(best)} of {len(bots)} bots could be the best."
    others = len(bots) - len(best)
    leaders = [row for row in ranked if row.rank_low == 1]
    ahead = all(row.rank_high is not None and row.rank_high <= len(leaders) for row in leaders)
    each = "Both are" if len(best) == 2 else "Each of them is"
    behind = (
        f" {each} better than {called(next(bot for bot in bots if bot not in best)) if others == 1 else f'each of the {others} others'}."
        if others and ahead
        else ""
    )
    return Headline(
        headline,
        "open",
        "not decided",
        f"{_figure(table, ranked[0], names)} Chance alone could make that lead; more sets would narrow it.{behind}",
    )


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def _gets(table: Standings, row: StandingsRow) -> str:
    interval = between(row.measure)
    return f"{figure(row.measure.mean)} {UNITS[table.measure]} a game" + (f" ({interval})" if interval else "")


def _figure(table: Standings, row: StandingsRow, names: Mapping[str, str]) -> str:
    return f"{names.get(row.entrant, row.entrant)} leads with {_gets(table, row)}."
