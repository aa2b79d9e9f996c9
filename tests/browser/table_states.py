"""States of a person's table as the server sends them, one for each phase, and a page that is given them without a server."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader
from playwright.sync_api import Browser, Page, Request, Route

import referee
from referee.cards import parse_card
from referee.report.card_faces import card_symbols
from tests.program import ROOT

PAGE_FILES: Final = ROOT / "referee" / "table" / "page"
HOME: Final = "http://table.test"
POLICY: Final = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'none'"

State = dict[str, Any]

_RANKS: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king", "ace")


def called(card: str) -> str:
    number = parse_card(card)
    return f"{_RANKS[(number & 15) - 2]} of {('clubs', 'diamonds', 'hearts', 'spades')[number >> 4]}"


def hand(cards: str, legal: str = "", rule: str = "", why: str = "It is not your turn.", must: str = "") -> list[Any]:
    may = legal.split()
    return [
        {
            "card": card,
            "name": called(card),
            "legal": card in may,
            "rule": "" if card in may else rule,
            "why": "" if card in may else why,
            "must": card in must.split(),
        }
        for card in cards.split()
    ]


def seats(count: int = 4, *, pairs: bool = False, **changes: Mapping[str, Any]) -> list[Any]:
    """``changes`` by ``s0``, ``s1`` ..."""
    names = ["You", "careful", "montecarlo", "random", "alpha", "beta", "gamma"]
    made = []
    for seat in range(count):
        one = {
            "seat": seat,
            "name": names[seat],
            "person": seat == 0,
            "partner": (seat + 2) % 4 if pairs else None,
            "score": [3, -1, 5, 4, 0, 2, 6][seat % 2 if pairs else seat],
            "dealer": seat == count - 1,
            "pitcher": False,
            "bid": "",
            "cards": 6,
            "tricks": 0,
            "thinking": False,
            "out": "",
        }
        made.append({**one, **changes.get(f"s{seat}", {})})
    return made


def laid(*cards: tuple[int, str]) -> list[Any]:
    return [{"seat": seat, "card": card, "name": called(card)} for seat, card in cards]


def move(text: str, label: str, key: str, rule: str = "", why: str = "") -> State:
    return {"move": text, "label": label, "legal": not why, "rule": rule, "why": why, "key": key}


def asked(
    kind: str, prompt: str, choose: tuple[int, int] | None = None, seconds: float | None = None, id_: str = "t1"
) -> State:
    return {
        "id": id_,
        "kind": kind,
        "prompt": f"Your turn: {prompt}",
        "choose": choose and list(choose),
        "seconds": seconds,
    }


def log(*sentences: str) -> list[Any]:
    return [{"n": number, "text": text} for number, text in enumerate(sentences, 1)]


def game(variant: str = "auction-pitch", title: str = "Auction Pitch", target: int = 7, deal: int = 3) -> State:
    return {"variant": variant, "title": title, "target": target, "deal": deal, "rules_page": "/rules"}


_BASE: Final[State] = {
    "revision": 1,
    "practice": False,
    "paused": False,
    "game": game(),
    "you": 0,
    "seats": seats(),
    "phase": "bid",
    "trump": None,
    "turn_up": None,
    "turn": None,
    "hand": hand("AS KS 9S JH 4D 2C"),
    "moves": [],
    "trick": [],
    "leader": None,
    "last_trick": None,
    "laid_away": [],
    "sheet": None,
    "sheets": [],
    "log": log("random deals.", "careful passes.", "montecarlo bids 2."),
    "over": None,
}


def state(base: State | None = None, **changes: Any) -> State:
    return {**(base or _BASE), **changes}


BID: Final = state(
    seats=seats(s1={"bid": "pass"}, s2={"bid": "2"}),
    hand=hand("AS KS 9S JH 4D 2C", why="You are asked for a bid."),
    turn=asked("bid", "bid 3 or more, or pass"),
    moves=[
        move("pass", "Pass", "p"),
        move("2", "Bid 2", "2", "AF-BID-002", "A bid must be higher than 2."),
        move("3", "Bid 3", "3"),
        move("4", "Bid 4", "4"),
    ],
)
WHY: Final = "Trump KD was led and you hold 4D: play a trump."
PLAY: Final = state(
    phase="play",
    trump="D",
    seats=seats(
        s0={"tricks": 1, "cards": 5},
        s2={"bid": "3", "pitcher": True, "tricks": 0, "cards": 4},
        s3={"cards": 4},
        s1={"cards": 5},
    ),
    hand=hand("AS KS 9S JH 4D", "4D", "AF-PLAY-002", WHY),
    turn=asked("play", "diamonds are led, which are trump"),
    trick=laid((2, "KD"), (3, "TD")),
    leader=2,
    last_trick={"winner": 0, "cards": laid((2, "3C"), (3, "QC"), (0, "AC"), (1, "5H"))},
    log=log("montecarlo bids 3.", "You pass.", "montecarlo plays KD.", "random plays TD."),
)
WAIT: Final = state(
    PLAY,
    turn=None,
    hand=hand("AS KS 9S JH"),
    trick=laid((2, "KD"), (3, "TD"), (0, "4D")),
    seats=seats(s1={"thinking": True}),
)
_ALL_FOURS: Final = state(
    game=game("all-fours", "All Fours", 7, 1), seats=seats(2), phase="beg", trump="H", turn_up="9H"
)
BEG: Final = state(
    _ALL_FOURS,
    turn=asked("beg", "9H is turned up; stand or beg"),
    moves=[move("stand", "Stand", "s"), move("beg", "Beg", "b")],
)
GIFT: Final = state(
    _ALL_FOURS,
    phase="gift",
    seats=seats(2, s0={"dealer": True}, s1={"bid": "beg", "dealer": False}),
    turn=asked("gift", "give a point, or run the cards"),
    moves=[move("give", "Give a point", "g"), move("run", "Run the cards", "r")],
)
RUN: Final = state(
    _ALL_FOURS,
    phase="discard",
    hand=hand("AS KS 9S JH TH 4H 4D 3D 2C", "AS KS 9S JH TH 4H 4D 3D 2C"),
    turn=asked("discard", "keep 6 of your 9 cards", (6, 6)),
)
_CINCH: Final = state(
    game=game("cinch", "Cinch", 51, 2), seats=seats(pairs=True, s0={"bid": "7", "pitcher": True, "cards": 9})
)
NAME: Final = state(
    _CINCH,
    phase="name",
    hand=hand("AS KS 9S 5S JH 5H 4D 3D 2C", why="You are asked for a suit."),
    turn=asked("name", "name trump"),
    moves=[move(suit, suit.capitalize(), suit[0]) for suit in ("spades", "hearts", "diamonds", "clubs")],
)
DISCARD: Final = state(
    _CINCH,
    phase="discard",
    trump="S",
    hand=hand(
        "AS KS 9S 5S 5C JH 4D 3D 2C",
        "AS KS 9S 5S 5C",
        "AF-DRAW-003",
        "Plain cards are laid away before the draw.",
        must="AS KS 9S 5S 5C",
    ),
    turn=asked("discard", "keep 5 of your 9 cards", (5, 5)),
)
_PACK: Final = "AS KS QS 9S 8S 5S 5C 2S AH JH 9H 8H 4H 3H AD 9D 4D 3D KC 7C 2C"
ROB: Final = state(
    _CINCH,
    phase="rob",
    trump="S",
    hand=hand(_PACK, _PACK),
    turn=asked("rob", "keep 6 of your 21 cards", (6, 6)),
    laid_away=[{"seat": 1, "cards": ["QD"]}, {"seat": 0, "cards": []}],
)
_SHEET: Final = {
    "deal": 3,
    "items": [
        {"item": "High", "seat": 1, "side": "careful", "points": 1, "why": "ace of diamonds"},
        {"item": "Low", "seat": 0, "side": "You", "points": 1, "why": "four of diamonds"},
        {"item": "Game", "seat": 2, "side": "montecarlo", "points": 1, "why": "31 pips"},
    ],
    "bid": "montecarlo bid 3 and made 1: set back 3.",
    "totals": [4, 0, 2, 4],
}
SHEET: Final = state(
    PLAY,
    phase="over",
    turn=None,
    hand=[],
    trick=[],
    sheet=_SHEET,
    sheets=[{**_SHEET, "deal": 1, "totals": [1, 2, 3, 0]}, {**_SHEET, "deal": 2, "totals": [3, -1, 5, 4]}, _SHEET],
    seats=seats(s0={"cards": 0}, s1={"cards": 0}, s2={"cards": 0}, s3={"cards": 0}),
    last_trick={"winner": 1, "cards": laid((1, "AD"), (2, "2D"), (3, "3D"), (0, "4D"))},
    log=[*PLAY["log"], {"n": 5, "text": "careful takes the trick."}, {"n": 6, "text": "The deal is scored."}],
)
OVER: Final = state(
    SHEET, over={"sentence": "You win, 7 to 4, 2 and 0.", "record": "/replay", "command": "referee show 1"}
)
PAUSED: Final = state(PLAY, paused=True, practice=True)
SEVEN: Final = state(
    PLAY,
    seats=seats(7),
    trick=laid((1, "KD"), (2, "TD"), (3, "2D"), (4, "9D"), (5, "7D"), (6, "JD")),
)
PHASES: Final[Mapping[str, State]] = {
    "bid": BID,
    "play": PLAY,
    "wait": WAIT,
    "beg": BEG,
    "gift": GIFT,
    "run": RUN,
    "name": NAME,
    "discard": DISCARD,
    "rob": ROB,
    "sheet": SHEET,
    "over": OVER,
    "paused": PAUSED,
    "seven": SEVEN,
}

RULING: Final = {
    "rule": "AF-PLAY-002",
    "sentence": WHY,
    "clause": "When trump is led, a seat that holds a trump plays a trump.",
    "link": "/rules#AF-PLAY-002",
}
HINT: Final = {"move": "4D", "label": "Four of diamonds", "why": "It is your only trump.", "cards": []}

_WITHOUT_SERVER: Final = """
window.EventSource = class {
  static CLOSED = 2;
  constructor() { this.heard = {}; this.readyState = 1; (window.sources ??= []).push(this); }
  addEventListener(kind, hear) { this.heard[kind] = hear; }
  close() { this.readyState = 2; }
};
window.deliver = state => window.sources.at(-1).heard.state({ data: JSON.stringify(state) });
"""


_SAID: Final = """() => [...document.querySelectorAll("#log > p")].map(one => {
  const heard = one.cloneNode(true);
  heard.querySelectorAll("[aria-hidden]").forEach(part => part.remove());
  return heard.textContent;
})"""


def said(page: Page) -> list[str]:
    """All that a screen reader has been told at this table, in order."""
    found: list[str] = page.evaluate(f"({_SAID})()")
    return found


@dataclass
class GivenTable:
    """A page at a table that is only told what it shows. ``answers`` by path: status and JSON, or None where nothing answers."""

    page: Page
    state: State
    answers: dict[str, tuple[int, Any] | None] = field(default_factory=dict)
    posted: list[tuple[str, Any]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def give(self, changed: State) -> None:
        """The next state arrives."""
        self.state = {**changed, "revision": self.state["revision"] + 1}
        self.page.evaluate("state => deliver(state)", self.state)

    def said(self) -> list[str]:
        """All that a screen reader has been told, in order."""
        return said(self.page)

    def hears(self, sentence: str) -> None:
        """Waits until this is the last that a screen reader is told."""
        self.page.wait_for_function(f"text => ({_SAID})().at(-1) === text", arg=sentence)

    def sent(self) -> list[tuple[str, Any]]:
        """What the page has posted by now: path and JSON."""
        self.page.evaluate("fetch('/behind').then(answer => answer.text())")  # what was asked before is here before
        return self.posted

    def focus(self) -> str:
        """What has the focus: the name of a control, or the id."""
        found: str = self.page.evaluate(
            "(document.activeElement.getAttribute('aria-label') || document.activeElement.id || document.activeElement.tagName)"
        )
        return found

    def answer(self, route: Route, request: Request) -> None:
        path = request.url.removeprefix(HOME).split("?")[0]
        self.asked.append(path)
        if request.method == "POST":
            self.posted.append((path, request.post_data_json))
            assert request.headers["x-referee-table"] == "form-token"
        if path == "/":
            route.fulfill(
                body=rendered(self.state), content_type="text/html", headers={"content-security-policy": POLICY}
            )
        elif path.startswith("/static/"):
            route.fulfill(path=PAGE_FILES / path.removeprefix("/static/"))
        else:
            known = self.answers.get(path, (200, self.state if path == "/state" else {"accepted": True}))
            if known is None:
                route.abort()
            else:
                route.fulfill(status=known[0], body=json.dumps(known[1]), content_type="application/json")


def rendered(first: State) -> str:
    """The page as a server sends it."""
    template = Environment(loader=FileSystemLoader(PAGE_FILES), autoescape=True).get_template("index.html.j2")
    told = json.dumps(first).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return template.render(
        form_token="form-token", cards=card_symbols(), version=referee.__version__, digest="d", state_json=told
    )


Seated = Callable[..., Any]


@contextmanager
def seated(
    browser: Browser, first: State, *, size: tuple[int, int] = (1200, 900), **options: Any
) -> Iterator[GivenTable]:
    """Opens the page; at the end it must have complained of nothing, and asked nobody else."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
    try:
        page = context.new_page()
        page.add_init_script(_WITHOUT_SERVER)
        given = GivenTable(page, first)
        page.on("pageerror", lambda error: given.complaints.append(str(error)))
        page.on("console", lambda told: given.complaints.append(told.text) if not _expected(told.text) else None)
        page.on("request", lambda sent: given.complaints.append(sent.url) if not _ours(sent.url) else None)
        page.route("**/*", given.answer)
        page.goto(HOME)
        yield given
        assert given.complaints == []
    finally:
        context.close()


def _ours(url: str) -> bool:
    return url.startswith((HOME, "data:"))


def _expected(text: str) -> bool:
    """Chromium's own line about an answer that is no 200."""
    return text.startswith("Failed to load resource")
