"use strict";
// Drawing a State into the page: always in place, by key, so that nothing is drawn anew under the focus.

const byId = id => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

function node(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  made.append(...children.filter(child => child !== null && child !== ""));
  return made;
}

function drawing(symbol, className) {
  const svg = document.createElementNS(SVG, "svg"), use = document.createElementNS(SVG, "use");
  svg.setAttribute("class", className);
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#${symbol}`);
  svg.append(use);
  return svg;
}

const suitDrawing = suit => drawing(`suit-${suit}`, `suit ${suit}`);
const cardDrawing = card => drawing(`card-${card}`, `card ${card[1]}`);
const unseen = text => node("span", { class: "aside" }, text);

// Text into an element, only where it is another; cards in it are drawn, and named for those who hear it.
function say(element, text) {
  if (element.dataset.says === text) return;
  element.dataset.says = text;
  element.replaceChildren(...parts(text).map(part => part.card ? cardWord(part.card) : part.text));
}

function cardWord(card) {
  const seen = node("span", { "aria-hidden": "true", class: `card-word ${card[1]}` }, card[0] === "T" ? "10" : card[0], suitDrawing(card[1]));
  return node("span", {}, seen, unseen(cardName(card)));
}

function set(element, name, value) {
  if (value === null || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

const show = (element, on) => { if (element.hidden === on) element.hidden = !on; };

// The children of a list by the keys of its items: what stays is changed in place, what is gone is removed, what is new is made.
function keyed(list, items, keyOf, make, change) {
  const old = new Map([...list.children].map(child => [child.dataset.key, child]));
  const keys = new Set(items.map(item => String(keyOf(item))));
  for (const [key, child] of old) if (!keys.has(key)) child.remove();
  items.forEach((item, at) => {
    const key = String(keyOf(item));
    let child = old.get(key);
    if (!child) { child = make(item); child.dataset.key = key; }
    if (list.children[at] !== child) list.insertBefore(child, list.children[at] || null);
    change(child, item, at);
  });
}

// Where a seat sits: the person below, the others around in turn.
function place(element, state, seat, far) {
  const angle = (seat - state.you) * 2 * Math.PI / state.seats.length;
  element.style.setProperty("--x", `${50 - far[0] * Math.sin(angle)}%`);
  element.style.setProperty("--y", `${far[2] + far[1] * Math.cos(angle)}%`);
}

function drawFacts(state) {
  const { game } = state;
  say(byId("title"), game.title);
  const facts = byId("facts"), key = JSON.stringify([game.deal, game.target, state.trump, state.turn_up, state.practice]);
  if (facts.dataset.key === key) return;
  facts.dataset.key = key;
  const trump = state.trump ? node("span", { class: "trump" }, "Trump ", suitDrawing(state.trump), ` ${SUIT_NAMES[state.trump]}`) : node("span", {}, "No trump yet");
  const turned = state.turn_up ? node("span", {}, "Turned up ", cardWord(state.turn_up)) : null;
  facts.replaceChildren(...withCommas([node("span", {}, `Deal ${game.deal}`), node("span", {}, `to ${game.target}`), trump, turned, state.practice ? node("span", { class: "chip accent" }, "practice") : null].filter(Boolean)));
}

function drawSeats(state) {
  byId("seats").parentElement.classList.toggle("large", state.seats.length > 4);
  keyed(byId("seats"), [...state.seats].sort((one, other) => turnOrder(state, one.seat) - turnOrder(state, other.seat)), seat => seat.seat, () => node("li", { class: "seat" },
    node("p", { class: "who" }, node("bdi", { class: "name" }), node("b", { class: "points" })), node("p", { class: "marks" })), (item, seat) => {
    place(item, state, seat.seat, [39, 40.5, 50]);
    const asked = seat.thinking || Boolean(state.turn) && seat.seat === state.you;
    item.className = `seat${asked ? " asked" : ""}${seat.seat === state.you ? " me" : ""}${seat.out ? " is-out" : ""}`;
    say(item.querySelector(".name"), seat.name);
    const points = item.querySelector(".points");
    if (points.dataset.says !== String(seat.score)) {
      points.dataset.says = String(seat.score);
      points.replaceChildren(unseen(", score "), number(seat.score), unseen("."));
    }
    const texts = marks(state, seat), line = item.querySelector(".marks");
    const held = seat.seat === state.you ? [] : [`${seat.cards}`];
    const key = JSON.stringify([texts, held, seat.thinking]);
    if (line.dataset.key === key) return;
    line.dataset.key = key;
    const chips = texts.map(text => node("span", { class: `chip${text.startsWith("pitches") ? " accent" : ""}` }, text));
    const backs = held.length ? [node("span", { class: "held" }, drawing("card-back", "back-of"), node("span", { "aria-hidden": "true" }, held[0]), unseen(some(seat.cards, "card")))] : [];
    const thinking = seat.thinking ? [node("span", { class: "chip thinking" }, node("span", { class: "aside" }, "is "), "thinking")] : [];
    line.replaceChildren(...withCommas([...backs, ...chips, ...thinking]));
  });
}

// Chips stand apart for the eye; for the ear there are commas between them.
const withCommas = chips => chips.flatMap((chip, at) => at ? [unseen(", "), chip] : [chip]);

const turnOrder = (state, seat) => (seat - state.you - 1 + state.seats.length) % state.seats.length; // the person last

function drawTrick(state, winner) {
  const list = byId("trick");
  show(list, state.trick.length > 0);
  show(byId("no-trick"), !state.trick.length);
  list.style.setProperty("--n", state.trick.length);
  keyed(list, state.trick, played => `${played.seat}-${played.card}`, played => node("li", { class: "played" }, cardDrawing(played.card), node("span", { class: "by" })), (item, played) => {
    place(item, state, played.seat, state.seats.length > 4 ? [24, 20, 48] : [15, 15, 48]);
    item.className = `played${played.seat === winner ? " won" : ""}`;
    const words = `${played.seat === winner ? ", takes the trick" : ""}`, key = `${played.name} ${seatName(state, played.seat)}${words}`;
    const by = item.querySelector(".by");
    if (by.dataset.says === key) return;
    by.dataset.says = key;
    by.replaceChildren(unseen(`${played.name} by `), node("bdi", {}, seatName(state, played.seat)), unseen(words));
  });
  const turned = byId("turn-up"), up = state.turn_up && !state.trick.length;
  show(turned, Boolean(up));
  if (up && turned.dataset.key !== state.turn_up) {
    turned.dataset.key = state.turn_up;
    turned.querySelector(".pile").replaceChildren(cardDrawing(state.turn_up));
    turned.querySelector("figcaption").replaceChildren(unseen(`${cardName(state.turn_up)}, `), "turned up");
  }
}

// The cards of the hand: `chosen` are those that are kept so far, `tried` is the one that was refused, `hinted` what was advised.
function drawHand(state, { chosen, tried, hinted, sent }) {
  const choosing = Boolean(state.turn && state.turn.choose), playing = Boolean(state.turn) && !choosing && state.hand.some(held => held.legal);
  const list = byId("hand");
  list.classList.toggle("many", state.hand.length > (choosing ? 7 : 9));
  keyed(list, state.hand, held => held.card, held => {
    const button = node("button", { type: "button", class: "card-button", "data-card": held.card }, cardDrawing(held.card), node("span", { class: "mark", "aria-hidden": "true" }), node("span", { class: "key", "aria-hidden": "true" }));
    return node("li", {}, button);
  }, (item, held, at) => {
    const button = item.firstChild;
    const kept = choosing && chosen.has(held.card), barred = playing && !held.legal || choosing && !held.legal && !kept;
    const marked = { legal: playing && held.legal || kept, barred, tried: held.card === tried, hinted: held.card === hinted, sent: held.card === sent };
    button.className = ["card-button", ...Object.keys(marked).filter(name => marked[name])].join(" ");
    const notes = [held.name, barred ? "not allowed now" : "", held.card === hinted ? "advised" : ""].filter(Boolean);
    set(button, "aria-label", notes.join(", "));
    set(button, "aria-pressed", choosing ? String(kept) : null);
    const mark = button.querySelector(".mark");
    const sign = held.card === tried ? "✕" : kept ? "✓" : held.card === hinted ? "★" : "";
    if (mark.textContent !== sign) mark.textContent = sign;
    const key = button.querySelector(".key"), digit = at < 10 && (playing || choosing) ? String((at + 1) % 10) : "";
    if (key.textContent !== digit) key.textContent = digit;
  });
}

function drawMoves(state, tried, hinted) {
  const list = byId("moves");
  show(list, state.moves.length > 0);
  list.classList.toggle("many", state.moves.length > 8);
  keyed(list, state.moves, move => move.move, move => node("li", {}, node("button", { type: "button", class: "move", "data-move": move.move })), (item, move) => {
    const button = item.firstChild, suit = Object.keys(SUIT_NAMES).find(one => SUIT_NAMES[one] === move.move.toLowerCase() || one === move.move.toUpperCase());
    const isSuit = Boolean(suit) && /^(suit|name)/.test(state.turn ? state.turn.kind : "name");
    button.className = ["move", move.legal ? "legal" : "barred", move.move === tried ? "tried" : "", move.move === hinted ? "hinted" : ""].filter(Boolean).join(" ");
    const label = `${move.label}${move.legal ? "" : ", not allowed now"}${move.move === hinted ? ", advised" : ""}`;
    if (button.dataset.says === label) return;
    button.dataset.says = label;
    set(button, "aria-label", label);
    button.replaceChildren(...[isSuit ? suitDrawing(suit) : null, node("span", {}, move.label), move.key ? node("kbd", { "aria-hidden": "true", class: "key" }, move.key) : null].filter(Boolean));
  });
}

function drawScore(state) {
  const sheets = state.sheets || [], teams = sides(state);
  const key = JSON.stringify([teams, sheets.map(sheet => sheet.totals), state.game.target, state.seats.map(seat => [seat.dealer, seat.pitcher, seat.bid])]);
  const box = byId("score");
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  const rows = teams.map(team => node("tr", {}, node("th", { scope: "row" }, node("bdi", {}, team.name)),
    node("td", { class: "num" }, node("b", {}, number(team.score))),
    node("td", { class: "way", "aria-hidden": "true" }, way(team.score, state.game.target))));
  const children = [node("table", {}, node("caption", { class: "aside" }, `Score, the game goes to ${state.game.target}`), node("thead", { class: "aside" }, node("tr", {}, ...["Who", "Points"].map(text => node("th", { scope: "col" }, text)))), node("tbody", {}, ...rows))];
  if (sheets.length) {
    const head = node("tr", {}, node("th", { scope: "col" }, "Deal"), ...teams.map(team => node("th", { scope: "col", class: "num" }, node("bdi", {}, team.name))));
    const lines = sheets.map(sheet => node("tr", {}, node("th", { scope: "row" }, String(sheet.deal)), ...teams.map(team => node("td", { class: "num" }, number(sheet.totals[team.seats[0]])))));
    const before = box.querySelector("details");
    children.push(node("details", { open: Boolean(before && before.open) }, node("summary", {}, "Deal by deal"), node("div", { class: "scroll" }, node("table", {}, node("thead", {}, head), node("tbody", {}, ...lines)))));
  }
  if (box.contains(document.activeElement)) { box.dataset.key = ""; return; } // drawn when the focus has left
  box.replaceChildren(...children);
}

function way(score, target) {
  const bar = node("span", { class: "bar" }, node("span", {}));
  bar.firstChild.style.setProperty("--part", `${Math.max(0, Math.min(1, score / target)) * 100}%`);
  return bar;
}

const smallCard = card => node("li", {}, cardDrawing(card), unseen(cardName(card)));

function drawBeside(state) {
  const { last_trick: last, laid_away: away } = state;
  show(byId("last-section"), Boolean(last));
  if (last) {
    say(byId("last-winner"), `${starts(whose(state, last.winner))} took it.`);
    keyed(byId("last"), last.cards, played => `${played.seat}-${played.card}`, played => node("li", {}, cardDrawing(played.card), node("span", {}, unseen(`${played.name} by `), node("bdi", {}, seatName(state, played.seat)))),
      (item, played) => { item.className = played.seat === last.winner ? "won" : ""; });
  }
  const shown = away.filter(one => one.cards.length);
  show(byId("away-section"), shown.length > 0);
  keyed(byId("away"), shown, one => one.seat, () => node("div", {}, node("p", {}), node("ul", { class: "small-cards" })), (item, one) => {
    say(item.firstChild, `${starts(whose(state, one.seat))}:`);
    set(item.lastChild, "aria-label", `Laid away by ${whose(state, one.seat)}`);
    keyed(item.lastChild, one.cards.map(card => ({ card })), held => held.card, held => smallCard(held.card), () => {});
  });
}

function drawSheet(state) {
  const box = byId("sheet"), { sheet } = state;
  show(box, Boolean(sheet));
  const key = JSON.stringify([sheet, Boolean(state.over)]);
  if (!sheet || box.dataset.key === key) return;
  box.dataset.key = key;
  const head = (...texts) => node("thead", {}, node("tr", {}, ...texts.map(([text, className]) => node("th", { scope: "col", class: className || null }, text))));
  const words = text => { const cell = node("td", {}); say(cell, text || ""); return cell; };
  const items = sheet.items.map(item => node("tr", {}, node("th", { scope: "row" }, item.item), words(item.why),
    node("td", {}, node("bdi", {}, item.side || (item.seat === null || item.seat === undefined ? "nobody" : seatName(state, item.seat)))), node("td", { class: "num" }, signed(item.points))));
  const totals = sides(state).map(side => node("tr", {}, node("th", { scope: "row" }, node("bdi", {}, side.name)), node("td", { class: "num" }, node("b", {}, number(sheet.totals[side.seats[0]])))));
  const bid = node("p", { class: "contract" });
  say(bid, sheet.bid || "");
  box.replaceChildren(...[
    node("h2", { id: "sheet-title", tabindex: "-1" }, `Deal ${sheet.deal} is scored`), sheet.bid ? bid : null,
    node("div", { class: "sheets" },
      items.length ? node("div", {}, node("table", {}, node("caption", { class: "aside" }, "Item by item"), head(["Item"], ["For"], ["Scored by"], ["Points", "num"]), node("tbody", {}, ...items))) : node("p", {}, "Nothing was scored."),
      node("div", {}, node("table", {}, node("caption", { class: "aside" }, "Score after the deal"), head(["Side"], ["Score", "num"]), node("tbody", {}, ...totals)))),
    state.over ? null : node("p", { class: "row end" }, node("button", { type: "button", id: "go-on", class: "chief" }, "Next deal")),
  ].filter(Boolean));
}

function drawOver(state) {
  const { over } = state;
  show(byId("over"), Boolean(over));
  if (!over) return;
  say(byId("over-title"), over.sentence);
  const line = byId("over-record"), key = `${over.record} ${over.command || ""}`;
  if (line.dataset.key === key) return;
  line.dataset.key = key;
  const isLink = /^\/[^/\\]/.test(over.record || "");
  const where = isLink ? node("a", { href: over.record, target: "_blank", rel: "noopener" }, "Watch the game again, card by card") : over.record ? node("span", {}, "The record of the game: ", node("code", {}, over.record)) : "";
  line.replaceChildren(where, ...(over.command ? [node("br"), "In the terminal: ", node("code", {}, over.command)] : []));
}

// What was tried and may not be, with its rule, under the hand and pointing at the card.
function drawRuling(ruling, state) {
  const box = byId("ruling");
  show(box, Boolean(ruling));
  if (!ruling) return;
  say(byId("ruling-title"), `Not the ${ruling.name} just now`);
  say(byId("ruling-sentence"), ruling.sentence);
  const clause = byId("ruling-clause");
  show(clause, Boolean(ruling.clause));
  say(clause, ruling.clause ? `The rule: ${ruling.clause}` : "");
  const legal = state.hand.filter(held => held.legal), line = byId("ruling-legal");
  show(line, Boolean(ruling.card) && legal.length > 0 && !(state.turn && state.turn.choose));
  say(line, `You may play: ${legal.map(held => held.card).join(" ")}`);
  const link = byId("ruling-link");
  show(link, Boolean(ruling.rule));
  if (ruling.rule) { say(link, `${ruling.rule} in the rule book`); set(link, "href", ruling.link && /^\/[^/\\]/.test(ruling.link) ? ruling.link : `/rules#${encodeURIComponent(ruling.rule)}`); }
  point(box, ruling.card ? `[data-card="${CSS.escape(ruling.card)}"]` : ruling.move ? `[data-move="${CSS.escape(ruling.move)}"]` : "#hand");
}

function point(box, selector) {
  const target = document.querySelector(selector);
  if (!target) return;
  const from = box.getBoundingClientRect(), to = target.getBoundingClientRect();
  box.style.setProperty("--at", `${Math.max(18, Math.min(from.width - 18, to.left + Math.min(to.width / 2, 24) - from.left))}px`);
}
