"use strict";
// Drawing a frame: the table with its seats and cards, the panel below it, the sheet beside it.

function node(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "style") made.style.cssText = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter(child => child !== null && child !== ""));
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

function drawing(symbol, className, label) {
  const svg = document.createElementNS(SVG, "svg"), use = document.createElementNS(SVG, "use");
  svg.setAttribute("class", className);
  if (label) { svg.setAttribute("role", "img"); svg.setAttribute("aria-label", label); } else svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#${symbol}`);
  svg.append(use);
  return svg;
}

const cardDrawing = (letter, className = "", note = "") =>
  drawing(`card-${cardText(letter)}`, `card ${className}`, cardName(letter) + note);

const suitDrawing = suit => drawing(`suit-${SUITS[suit]}`, `suit ${"DH".includes(SUITS[suit]) ? "red" : ""}`, SUIT_NAMES[suit]);

const cardsText = count => count === 1 ? "1 card" : `${count} cards`;

function legalLetters(ask) {
  if (!ask) return null;
  return ask[1] === KIND.PLAY ? ask[2] : null;
}

function handOf(frame, seat, seen) {
  const cards = sorted(frame.state.hands[seat]), asked = frame.ask && frame.ask[0] === seat && !frame.scoring && (frame.ruling || frame.state.winner === null);
  const legal = asked && seen ? legalLetters(frame.ask) : null;
  const tried = seen && frame.ruling && frame.ruling.seat === seat ? frame.ruling.card : null;
  const list = node("ul", { class: "hand", style: `--n:${Math.max(cards.length, 2)}`, "aria-label": seen ? "Hand" : `${cardsText(cards.length)}, not seen` });
  for (const letter of seen ? cards : cards.map(() => null)) {
    if (letter === null) { list.append(node("li", { "aria-hidden": "true" }, drawing("card-back", "card"))); continue; }
    const fits = legal !== null && legal.includes(letter);
    const mark = letter === tried ? "tried" : fits ? "legal" : legal !== null ? "barred" : "";
    const note = letter === tried ? ", tried, not legal" : fits ? ", legal" : legal !== null ? ", not legal" : "";
    list.append(node("li", { class: mark }, cardDrawing(letter, "", note)));
  }
  return list;
}

function optionsOf(frame, seat, seen) {
  const { ask } = frame;
  if (!ask || ask[0] !== seat || frame.scoring || !seen || legalLetters(ask) !== null) return null;
  const texts = ask[1] === KIND.DISCARD ? [`keep ${cardsText(ask[2][2])}`] : ask[2].map(action => actionText(ask[1], action));
  const chips = texts.map(text => node("span", { class: "chip" }, text));
  return node("p", { class: "options" }, "may: ", ...chips);
}

// Points that a side has scored during the deal, in front of everybody.
const atOnce = (game, state, side) => Object.entries(state.atOnce).reduce((sum, [seat, points]) => sum + (game.side[seat] === side ? points : 0), 0);

function seatBlock(game, frame, seat, view) {
  const { state } = frame, deal = game.deals[frame.deal], angle = seat * 2 * Math.PI / game.names.length;
  const seen = view === null || view === seat;
  const asked = frame.ask && frame.ask[0] === seat && !frame.scoring && state.winner === null;
  const side = game.side[seat], score = frame.scoring ? deal.to[side] : deal.from[side] + atOnce(game, state, side);
  const chips = [
    deal.d === seat ? node("span", { class: "chip" }, "dealer") : null,
    state.pitcher === seat ? node("span", { class: "chip accent" }, state.bid ? `bid ${state.bid}` : "pitches") : null,
    state.calls[seat] && state.pitcher !== seat ? node("span", { class: "chip" }, state.calls[seat]) : null,
    state.atOnce[seat] ? node("span", { class: "chip" }, `+${state.atOnce[seat]} at once`) : null,
    state.tricks[seat] ? node("span", { class: "chip" }, state.tricks[seat] === 1 ? "1 trick" : `${state.tricks[seat]} tricks`) : null,
    state.away[seat] && !state.number ? node("span", { class: "chip" }, `${state.away[seat]} laid away`) : null,
  ];
  return node("div", {
    class: `seat${asked ? " asked" : ""}`, role: "group", "aria-label": `${game.names[seat]}, score ${score}${asked ? ", to decide" : ""}`,
    style: `--x:${50 - 36.5 * Math.sin(angle)}%;--y:${49 + 35 * Math.cos(angle)}%`,
  }, node("p", { class: "who" }, node("bdi", {}, game.names[seat]), node("b", { class: "score", title: "score" }, plain(score))),
  handOf(frame, seat, seen), node("p", { class: "chips" }, ...chips), optionsOf(frame, seat, seen) || "");
}

function trickBlock(game, frame) {
  const { state } = frame;
  const block = node("div", { class: "trick", role: "group", "aria-label": "On the table" });
  for (const [seat, letter] of state.trick) {
    const angle = seat * 2 * Math.PI / game.names.length, won = state.winner === seat;
    block.append(node("figure", {
      class: `played${won ? " won" : ""}`, style: `--x:${50 - 14 * Math.sin(angle)}%;--y:${49 + 13.5 * Math.cos(angle)}%`,
    }, cardDrawing(letter, "", ` by ${game.names[seat]}${won ? ", wins the trick" : ""}`), node("figcaption", {}, game.names[seat])));
  }
  if (!state.trick.length && state.turnUp) {
    block.append(node("figure", { class: "turned" }, cardDrawing(state.turnUp, "", " face up"), node("figcaption", {}, state.number ? "stock" : "turned up")));
  }
  return block;
}

function tableLine(game, frame) {
  const { state } = frame, deal = game.deals[frame.deal];
  const parts = [`Deal ${frame.deal + 1} of ${game.deals.length}`];
  if (state.number) parts.push(`Trick ${state.number}`);
  const line = node("p", { class: "table-line" }, parts.join(" · "), " · Trump ");
  line.append(state.trump === null ? "not fixed" : suitDrawing(state.trump));
  if (state.turnUp && state.trick.length) line.append(` · turned up ${cardText(state.turnUp)}`);
  if (state.shown.length) line.append(` · laid away face up: ${state.shown.map(cardText).join(" ")}`);
  line.append(` · ${cardsText(state.stock)} unseen`);
  return line;
}

function rulingPanel(game, frame, view) {
  const { ruling } = frame, hidden = view !== null && view !== ruling.seat;
  const panel = node("div", { class: "panel ruling" }, node("h2", {}, `Ruling against ${game.names[ruling.seat]}: ${ruling.rule || ruling.fault}`));
  if (hidden) { panel.append(node("p", {}, "Only the seat itself is told what was ruled.")); return panel; }
  const facts = [["It answered", ruling.tried], ["The referee", ruling.says], ["The rule", ruling.clause], ["Legal was", ruling.legal],
    ["What followed", { RETRY: "It was asked again.", SUBSTITUTED: "The referee moved in its place.", FORFEITED: "It lost the game.", IGNORED: "Nothing.", REPLAYED: "The game was played again." }[ruling.then] || ruling.then]];
  const list = node("dl", { class: "facts" });
  for (const [term, text] of facts) if (text) list.append(node("dt", {}, term), node("dd", {}, node("bdi", {}, text)));
  panel.append(list);
  return panel;
}

const signed = number => number < 0 ? `−${-number}` : number > 0 ? `+${number}` : "0";
const plain = number => number < 0 ? `−${-number}` : String(number);

function scoringPanel(game, frame) {
  const outcome = frame.scoring, deal = game.deals[frame.deal];
  const panel = node("div", { class: "panel" }, node("h2", {}, `Deal ${frame.deal + 1} is scored`), node("p", {}, contractText(game, outcome)));
  const sheets = node("div", { class: "sheets" });
  const items = itemRows(game, outcome);
  if (items.length) sheets.append(sheetTable(["Item", "Card", "Scored by", "Points"], items));
  const sides = game.sides.map((name, side) => node("tr", {}, node("th", { scope: "row" }, node("bdi", {}, name)),
    ...[plain(deal.from[side]), plain(outcome.made[side]), signed(outcome.deltas[side]), plain(deal.to[side])].map(text => node("td", { class: "num" }, text))));
  sheets.append(sheetTable(["Side", "Before", "Made", "Counts", "After"], sides));
  panel.append(sheets);
  return panel;
}

// Every item that was scored; where High, Low, Jack and Game count, also those that nobody got.
const ITEMS = ["high", "low", "jack", "game"];

function itemRows(game, outcome) {
  const row = (item, what, who, points) => node("tr", {}, node("th", { scope: "row" }, item), node("td", {}, what), node("td", {}, node("bdi", {}, who)), node("td", { class: "num" }, points));
  const pips = `pips ${outcome.pips.join(" : ")}`;
  const scored = outcome.awards.map(award => [...award, game.names[award[1]]]);
  if (game.items && outcome.ending === "played") {
    const owned = new Set(outcome.awards.map(award => award[0]));
    scored.push(...ITEMS.filter(item => !owned.has(item)).map(item => [item, null, 0, null, "nobody"]));
    scored.sort((one, other) => ITEMS.indexOf(one[0]) - ITEMS.indexOf(other[0]));
  }
  return scored.map(([item, seat, points, letter, who]) =>
    row(item, letter ? cardText(letter) : item === "game" ? pips : seat === null ? "not played" : "", who, signed(points)));
}

function contractText(game, outcome) {
  if (outcome.ending !== "played") return `No card is played: ${outcome.ending}.`;
  if (outcome.pitcher === null || !outcome.bid) return "There was no contract.";
  const made = outcome.made[game.side[outcome.pitcher]], start = `${game.names[outcome.pitcher]} bid ${outcome.bid} and made ${made}: `;
  return start + (outcome.setBack === null ? "the contract is made." : `set back by ${outcome.bid}.`);
}

function resultText(game) {
  const scores = game.sides.map((name, side) => `${name} ${plain(game.scores[side])}`).join(", ");
  return `${game.winner === null ? "Nobody wins" : `${game.sides[game.winner]} wins`} (${game.reason}). Final score: ${scores}.`;
}

function sheetTable(headings, rows) {
  const head = headings.map((text, i) => node("th", { scope: "col", class: i && !["Card", "Scored by"].includes(text) ? "num" : "" }, text));
  return node("table", {}, node("thead", {}, node("tr", {}, ...head)), node("tbody", {}, ...rows));
}
