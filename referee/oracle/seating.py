"""Who sits where: the order round the table, and who scores together."""

from .house import Rules


def circle(rules: Rules, seats: int, first: int) -> list[int]:
    """All seats in the order of play, starting with `first`. Seats are numbered clockwise (notation; 1.8 goes round
    the other way).
    """
    step = 1 if rules["direction"] == "clockwise" else -1
    return [(first + step * turn) % seats for turn in range(seats)]


def deal_order(rules: Rules, seats: int, dealer: int) -> list[int]:
    """Eldest first, dealer last."""
    order = circle(rules, seats, dealer)
    return order[1:] + order[:1]


def party_of(rules: Rules, seat: int) -> int:
    """Who scores for this seat: the seat itself, or its side when there are sides."""
    sides: int = rules["sides"]
    return seat % sides if sides else seat


def party_count(rules: Rules, seats: int) -> int:
    """How many scores are kept."""
    return rules["sides"] or seats
