"""What is told of a league that looks at its results: why it stopped, and what a comparison of versions has shown."""

from referee.league.league import League
from referee.league.schedule.formats import format_of
from referee.league.schedule.version_swap import VersionSwap
from referee.league.sets_to_play import closed_by_id
from referee.league.store import Store
from referee.report.number_format import UNITS, between, figure
from referee.report.sanitize import sanitize
from referee.statistics.version_comparison import VersionVerdict


def comparison_of(store: Store, league: League) -> VersionVerdict | None:
    """The verdict of a comparison on the sets that are closed now; None for any other league."""
    shape = league.shape
    format_ = format_of(shape)
    if not isinstance(format_, VersionSwap):
        return None
    deals: dict[str, list[int]] = {}
    for game in store.games():
        deals.setdefault(game.summary["set"], []).append(game.summary["deals"])
    entrants = [entrant.key for entrant in league.entrants]
    return format_.verdict(shape, entrants, list(closed_by_id(store).values()), deals)


def ending_lines(store: Store, league: League) -> list[str]:
    """Why a league of this kind stopped, or why it did not, and its verdict; nothing for a league of fixed length."""
    certainty = format_of(league.shape).certainty(league.shape)
    if certainty is None:
        return []
    facts, total = store.league(), len(store.sets())
    lines = []
    verdict = comparison_of(store, league)
    if verdict is not None:
        lines += verdict_lines(verdict, *map(version_name, (league, league), (0, 1)))
    early = facts.get("ended")
    if early:
        lines.append(f"Stopped after {early['sets']:,} of {total:,} sets: {early['reason']}.")
    elif facts["state"] == "finished":
        what = "nothing is decided" if verdict is not None else "the ranks are not all resolved"
        lines.append(f"All {total:,} sets are played, and {what} with certainty {certainty:.4g}.")
    return lines


def open_line(store: Store) -> str:
    """The sets that a league still has to play, and the games of theirs that are stored: the standings count whole sets."""
    left = [row for row in store.sets() if row.state == "OPEN"]
    played = sum(row.games for row in left)
    told = "1 set open" if len(left) == 1 else f"{len(left):,} sets open"
    if not played:
        return told
    games = "1 game is" if played == 1 else f"{played:,} games are"
    return f"{told}; {games} played already and will count once the whole set is"


def version_name(league: League, number: int) -> str:
    """What to call the old (0) or the new version (1) of a comparison."""
    entrant = league.entrants[number]
    what = entrant.folder.name if entrant.folder is not None else entrant.name
    if entrant.folder is not None and len(entrant.argv) == 2 and (entrant.folder / entrant.argv[1]).suffix == ".py":
        what = entrant.argv[1] if not (entrant.folder / "bot.toml").exists() else what
    return sanitize(f"{entrant.key} ({what} {entrant.version})", 60)


def verdict_lines(verdict: VersionVerdict, old: str, new: str) -> list[str]:
    """The verdict in sentences: who is better, by how much, and what it took."""
    difference, unit = verdict.difference, f"{UNITS[verdict.measure]} a game"
    interval = between(difference)
    gain = f"{figure(difference.mean, sign=True)} {unit}" + (f" ({interval})" if interval else "")
    certain = f"certainty {1.0 - verdict.alpha:.4g} at every look"
    said = {
        "better": f"{new} is better than {old}: {gain}, {certain}.",
        "worse": f"{new} is worse than {old}: {gain}, {certain}.",
        "same": f"No difference beyond {verdict.margin:g} {unit} between {new} and {old}: {gain}, {certain}.",
        "open": f"Not decided: {new} less {old}: {gain}, {certain}.",
    }
    lines = [said[verdict.answer]]
    if verdict.answer == "open" and verdict.bound is not None:
        lines.append(f"No difference beyond {verdict.bound:.3f} {unit} is possible at that certainty.")
    lines.append(f"{verdict.games:,} games with {verdict.deals:,} distinct deals, in {verdict.sets:,} sets.")
    return [*lines, *_saved(verdict)]


def _saved(verdict: VersionVerdict) -> list[str]:
    """What the same packs have saved, if they have."""
    if verdict.plain_games is None or verdict.plain_deals is None:
        return []
    plain = (
        "A plain test (length fixed beforehand, new packs for each game) takes about "
        f"{verdict.plain_games:,} games and {verdict.plain_deals:,} deals for an interval as narrow"
    )
    games, deals = verdict.plain_games - verdict.games, verdict.plain_deals - verdict.deals
    if games <= 0:
        return [f"{plain}: the same packs have saved no games here; the test that may stop at any look has its price."]
    return [f"{plain}: saved {games:,} games and {max(deals, 0):,} distinct deals."]
