"""Points by seat, and bids made and set back."""

from collections.abc import Sequence
from dataclasses import dataclass

from referee.report.cross_table import shade
from referee.report.number_format import figure
from referee.report.report_data import ReportData


@dataclass(frozen=True, slots=True)
class SeatRow:
    """One entrant: its mean points from each seat as (text, shade, spoken), None where it never sat."""

    name: str
    cells: Sequence[tuple[str, int, str] | None]


@dataclass(frozen=True, slots=True)
class SeatTable:
    """``everybody``: the mean of all entrants by seat, as text."""

    seats: Sequence[int]
    rows: Sequence[SeatRow]
    everybody: Sequence[str]


def seat_table(facts: ReportData) -> SeatTable | None:
    """Mean points a game by seat; a shade says how far a seat lies from the entrant's own mean. None without games."""
    keys = [row.entrant for row in facts.table.rows if row.entrant in facts.seats]
    if not keys:
        return None
    means = {}
    for key in keys:
        known = [seat for seat in facts.seats[key] if seat]
        means[key] = sum(seat.points * seat.games for seat in known) / sum(seat.games for seat in known)
    gaps = [seat.points - means[key] for key in keys for seat in facts.seats[key] if seat]
    largest = max(map(abs, gaps)) or 1.0
    rows = [
        SeatRow(
            facts.called(key),
            [
                (figure(seat.points, 2), shade(seat.points - means[key], largest), f"{seat.games} games")
                if seat
                else None
                for seat in facts.seats[key]
            ],
        )
        for key in keys
    ]
    seats = range(facts.league.definition.tournament.seats)
    return SeatTable([seat + 1 for seat in seats], rows, [_everybody(facts, seat) for seat in seats])


def _everybody(facts: ReportData, seat: int) -> str:
    held = [by_seat[seat] for by_seat in facts.seats.values()]
    known = [one for one in held if one]
    games = sum(one.games for one in known)
    return figure(sum(one.points * one.games for one in known) / games if games else None, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class BidRow:
    """One entrant's contracts. Widths are percent of the most that any entrant has."""

    name: str
    made: int
    set_back: int
    made_wide: str
    set_wide: str
    share: str


def bid_rows(facts: ReportData) -> list[BidRow]:
    """Contracts made and set back; empty where the game has no auction, or nobody bid."""
    tallies = [(facts.called(row.entrant), row.tally) for row in facts.table.rows]
    most = max((tally.bids_made + tally.bids_set_back for _, tally in tallies), default=0)
    if not most:
        return []
    return [
        BidRow(
            name=name,
            made=tally.bids_made,
            set_back=tally.bids_set_back,
            made_wide=f"{100 * tally.bids_made / most:.2f}%",
            set_wide=f"{100 * tally.bids_set_back / most:.2f}%",
            share=f"{tally.bids_made / (tally.bids_made + tally.bids_set_back):.0%}"
            if tally.bids_made + tally.bids_set_back
            else "-",
        )
        for name, tally in tallies
    ]
