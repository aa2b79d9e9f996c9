"use strict";
// The table of one person: what comes from the server is shown, what the person does is sent. The server judges; the page only asks.

const PACES = { calm: 550, brisk: 220, none: 0 };
const TRIES = 4, WAIT_MS = 700, SLOWEST_MS = 8000;
const TOKEN = document.querySelector("meta[name=referee-table]").content;

const table = {
  state: null, // the newest
  shown: null, // what is on the screen: the newest, or a picture on the way to it
  pictures: [], timer: null,
  chosen: new Set(), ruling: null, hint: null, sent: null, // of the present turn
  inSight: "", heard: 0, deal: null, asked: null, warned: null, // what has been said already
  deadline: null, whole: { id: "", seconds: null }, source: null, again: 1000, retry: null, isLost: false, left: false,
};
const settings = { side: "right", pace: "calm", deck: "two", keys: "on" };

// What is said: one list, which a screen reader reads as it grows. No two sentences in a row are the same.

function tell(text, kind = "") {
  const list = byId("log"), last = list.lastElementChild;
  const item = node("p", { class: kind || null });
  const again = last && last.dataset.said === text;
  item.dataset.said = text;
  say(item, again ? `Once more: ${text}` : text);
  if (again) item.dataset.said = `Once more: ${text}`;
  list.append(item);
  while (list.children.length > 200) list.firstChild.remove();
  list.scrollTop = list.scrollHeight;
}

function tellNews(state) {
  const news = state.log.filter(line => line.n > table.heard);
  for (const line of news) tell(line.text);
  if (news.length) table.heard = news.at(-1).n;
  const { turn } = state;
  if (state.hand.length && table.deal !== state.game.deal) {
    table.deal = state.game.deal;
    tell(`Deal ${state.game.deal}: ${ANSWERS.hand(state)[0].toLowerCase()}${ANSWERS.hand(state).slice(1)}`);
  }
  if (turn && table.asked !== turn.id) {
    table.asked = turn.id;
    table.warned = null;
    tell(sentence(turn.prompt), "asked");
  }
}

// From state to state.

function take(state) {
  if (table.state && state.revision < table.state.revision) return;
  const before = table.state, turnBefore = before && before.turn && before.turn.id, turnNow = state.turn && state.turn.id;
  if (before && state.revision === before.revision && table.shown === before) return;
  if (turnBefore !== turnNow) {
    table.chosen = new Set(state.turn && state.turn.choose ? preset(state) : []);
    table.ruling = table.hint = table.sent = null;
  }
  if (state.turn && (table.whole.id !== state.turn.id || state.turn.seconds > table.whole.seconds)) table.whole = { id: state.turn.id, seconds: state.turn.seconds };
  table.deadline = state.turn && typeof state.turn.seconds === "number" ? performance.now() + state.turn.seconds * 1000 : null;
  const pace = document.hidden || state.turn && state.turn.seconds ? 0 : PACES[settings.pace];
  const pictures = between(before, state, pace);
  table.state = state;
  tellNews(state);
  document.title = `${state.over ? "Game over" : state.turn ? "● Your turn" : state.paused ? "Paused" : `Deal ${state.game.deal}`} · ${state.game.title}`;
  if (pictures.length) { table.pictures.push(...pictures); if (table.timer === null) step(); }
  else if (table.timer === null) draw(state, null);
}

function step() {
  const next = table.pictures.shift();
  if (!next) { table.timer = null; draw(table.state, null); return; }
  draw(next.state, next.winner);
  table.timer = setTimeout(step, next.lasts);
}

// Whoever acts does not wait for the cards to be laid down one by one.
function settle() {
  if (table.timer === null) return;
  clearTimeout(table.timer);
  table.timer = null;
  table.pictures = [];
  draw(table.state, null);
}

// The cards that have to be kept, or all that may be where that leaves no choice.
function preset(state) {
  const may = state.hand.filter(held => held.legal), [least, most] = state.turn.choose;
  return may.length === least && least === most ? may.map(held => held.card) : state.hand.filter(held => held.must).map(held => held.card);
}

function draw(state, winner) {
  table.shown = state;
  const focus = document.activeElement, card = focus && focus.dataset ? focus.dataset.card : null;
  const place = card ? [...byId("hand").children].findIndex(item => item.contains(focus)) : -1;
  const live = state === table.state;
  drawFacts(state);
  drawSeats(state);
  drawTrick(state, winner);
  drawMoves(state, live && table.ruling ? table.ruling.move : null, live && table.hint ? table.hint.move : null);
  drawHand(state, { chosen: table.chosen, tried: live && table.ruling ? table.ruling.card : null, hinted: live && table.hint ? table.hint.move : null, sent: table.sent });
  drawScore(state);
  drawBeside(state);
  drawSheet(state);
  drawOver(state);
  say(byId("prompt"), promptText(state));
  byId("prompt").classList.toggle("mine", Boolean(state.turn) && !state.paused);
  const last = state.log.at(-1);
  say(byId("now"), last && !state.trick.length && !state.over && !state.sheet ? last.text : "");
  document.querySelector(".round").classList.toggle("rest", Boolean(state.sheet || state.over));
  byId("saying").classList.toggle("open", !["play", "over"].includes(state.phase) && !state.sheet);
  const choosing = Boolean(state.turn && state.turn.choose);
  show(byId("choice"), choosing);
  if (choosing) drawChoice(state);
  drawRuling(live ? table.ruling : null, state);
  show(byId("hint-panel"), live && Boolean(table.hint));
  show(byId("hint"), Boolean(state.turn));
  show(byId("take-back"), state.practice);
  show(byId("pause"), !state.over);
  byId("pause").textContent = state.paused ? "Go on" : "Pause";
  set(byId("rules-link"), "href", /^\/[^/\\]/.test(state.game.rules_page || "") ? state.game.rules_page : "/rules");
  document.body.classList.toggle("paused", state.paused);
  drawClock();
  bringToSight(state);
  rescue(focus, place);
}

// What explains something, and the sheet, are brought to sight once, when they come.
function bringToSight(state) {
  const box = ["ruling", "hint-panel", "over", "sheet"].map(byId).find(one => !one.hidden);
  const key = box ? `${box.id} ${state.revision} ${box.textContent.length}` : "";
  if (key !== table.inSight && box) box.scrollIntoView({ block: "nearest" });
  table.inSight = key;
}

function promptText(state) {
  if (table.left) return "You have left the table.";
  if (state.over) return "The game is over.";
  if (state.paused) return "Paused. The table waits for you.";
  if (state.turn) return state.turn.prompt;
  if (state.sheet) return `Deal ${state.sheet.deal} is over.`;
  const busy = state.seats.find(seat => seat.thinking);
  return busy ? `${busy.name} is to ${state.phase === "play" ? "play" : "decide"}` : state.trick.length ? "The trick is taken" : "One moment";
}

function drawChoice(state) {
  const [least, most] = state.turn.choose, count = table.chosen.size, fits = count >= least && count <= most;
  say(byId("chosen"), choiceText(state, table.chosen));
  const button = byId("confirm");
  set(button, "aria-disabled", fits ? null : "true");
  say(button, count === state.hand.length ? "Keep all" : `Keep ${count === 1 ? "this card" : `these ${count || ""}`.trim()}`);
}

// Where what had the focus is gone, the next card has it, or what is asked now.
function rescue(focus, place) {
  if (!focus || focus === document.body || document.activeElement === focus && focus.isConnected && focus.offsetParent !== null) return;
  if (focus.isConnected && focus.offsetParent !== null || focus.closest && focus.closest("dialog")) return;
  const cards = byId("hand").children;
  if (place >= 0 && cards.length) cards[Math.min(place, cards.length - 1)].firstChild.focus({ preventScroll: true });
  else (byId("go-on") && !byId("sheet").hidden ? byId("sheet-title") : byId("prompt")).focus({ preventScroll: true });
}

function drawClock() {
  const clock = byId("clock"), { deadline, state } = table;
  show(clock, deadline !== null && !state.paused && !state.over);
  if (deadline === null || !state.turn || state.paused) return;
  const left = Math.max(0, Math.ceil((deadline - performance.now()) / 1000));
  byId("seconds").textContent = `${left} s`;
  byId("sand").style.setProperty("--part", `${Math.min(100, left / Math.max(table.whole.seconds, 1) * 100)}%`);
  clock.classList.toggle("short", left <= 10);
  if (left <= 10 && left > 0 && table.warned !== state.turn.id && table.whole.seconds > 12) { table.warned = state.turn.id; tell(`${left} seconds left.`); }
}
setInterval(() => { if (table.deadline !== null) drawClock(); }, 500);

// To the server. An answer may be sent again: the server knows its turn.

async function ask(path, body = null, tries = TRIES) {
  const headers = { Accept: "application/json" };
  if (body) { headers["Content-Type"] = "application/json"; headers["X-Referee-Table"] = TOKEN; }
  for (let count = 1; ; count += 1) {
    try {
      const answer = await fetch(path, { method: body ? "POST" : "GET", headers, body: body ? JSON.stringify(body) : undefined, cache: "no-store", credentials: "same-origin" });
      const text = await answer.text();
      let told = {};
      try { told = text ? JSON.parse(text) : {}; } catch { /* no JSON: no sentence */ }
      if (answer.status === 403 || answer.status === 401) barred(); else found();
      return { status: answer.status, told };
    } catch {
      lose();
      if (count >= tries || table.left) { listen(); return { status: 0, told: {} }; }
      await new Promise(done => setTimeout(done, WAIT_MS * count));
    }
  }
}

const wordsOf = told => told.sentence || told.detail || told.error || "";

async function send(body, what) {
  const { turn } = table.state;
  if (table.sent !== null) return;
  table.sent = what.card || what.move || "cards";
  table.ruling = null;
  draw(table.state, null);
  const { status, told } = await ask("/move", { turn: turn.id, ...body });
  if (status === 200) return; // what follows comes as a state
  table.sent = null;
  if (status === 409 && told.ruling) rule({ ...what, ...told.ruling });
  else if (status === 410) { tell(wordsOf(told) || "That turn is over."); await refresh(); }
  else if (status === 0) tell("Your answer has not arrived: the table cannot be reached. Give it again when the connection is back.");
  else tell(wordsOf(told) || `The table did not take that (${status}).`);
  draw(table.state, null);
}

// The very ruling, near the card and said.
function rule(ruling) {
  table.ruling = { rule: "", clause: "", link: "", ...ruling };
  table.hint = null;
  const clause = ruling.clause ? ` The rule: ${sentence(ruling.clause)}` : "";
  tell(`Not the ${ruling.name}. ${sentence(ruling.sentence)}${clause}${ruling.rule ? ` (${ruling.rule})` : ""}`, "ruled");
}

function tryCard(card) {
  settle();
  const { state } = table, held = state.hand.find(one => one.card === card);
  if (!held) { tell(`You do not hold the ${cardName(card)}.`); return; }
  if (state.paused) { tell("The table is paused. Say go on first."); return; }
  if (!state.turn || !state.turn.choose && !state.hand.some(one => one.legal)) {
    tell(state.turn ? `You are not asked for a card now. ${sentence(state.turn.prompt)}` : "It is not your turn.");
    return;
  }
  if (!state.turn.choose) { send({ move: card }, { card, name: held.name }); return; }
  if (table.chosen.has(card)) table.chosen.delete(card);
  else if (!held.legal && held.why) { rule({ card, name: held.name, rule: held.rule, sentence: held.why }); draw(state, null); return; }
  else table.chosen.add(card);
  table.ruling = null;
  draw(state, null);
}

function tryMove(move) {
  settle();
  if (!table.state.turn) { tell("It is not your turn."); return; }
  if (table.state.paused) { tell("The table is paused. Say go on first."); return; }
  send({ move: move.move }, { move: move.move, name: /^\d+$/.test(move.move) ? `bid of ${move.move}` : `answer “${move.label}”` });
}

function keep() {
  settle();
  const { state } = table;
  if (!state.turn || !state.turn.choose) return;
  const [least, most] = state.turn.choose, count = table.chosen.size;
  if (count < least || count > most) { tell(choiceText(state, table.chosen)); return; }
  const cards = state.hand.map(held => held.card).filter(card => table.chosen.has(card));
  send({ cards }, { name: `cards ${cards.join(" ")}` });
}

async function goOn() {
  settle();
  if (table.state.over) return;
  const { status, told } = await ask("/go-on", {});
  if (status !== 200 && status) tell(wordsOf(told) || "There is nothing to go on with.");
}

async function advise() {
  settle();
  if (!table.state.turn) { tell("There is no hint now: it is not your turn."); return; }
  const turn = table.state.turn.id, { status, told } = await ask("/hint");
  if (!table.state.turn || table.state.turn.id !== turn) return;
  if (status !== 200) { tell(wordsOf(told) || "There is no hint now."); return; }
  table.hint = told;
  table.ruling = null;
  if (table.state.turn.choose) {
    const cards = told.cards || [...String(told.move).toUpperCase().matchAll(CARD)].map(match => match[0]);
    if (cards.length) table.chosen = new Set(cards.filter(card => table.state.hand.some(held => held.card === card)));
  }
  say(byId("hint-title"), `A careful player: ${told.label}`);
  say(byId("hint-why"), told.why || "");
  tell(`Hint: ${sentence(told.label)} ${told.why || ""}`.trim());
  draw(table.state, null);
}

async function post(path, refused) {
  settle();
  const { status, told } = await ask(path, {}, path === "/take-back" ? 1 : TRIES);
  if (status && status !== 200) tell(wordsOf(told) || refused);
  return status === 200;
}

// The connection.

function listen() {
  clearTimeout(table.retry);
  if (table.source) table.source.close();
  const source = new EventSource("/events");
  table.source = source;
  source.addEventListener("state", event => { found(); take(JSON.parse(event.data)); });
  source.addEventListener("open", () => { if (table.isLost || !table.state) refresh(); });
  source.addEventListener("error", () => {
    lose();
    if (source.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
    table.retry = setTimeout(listen, table.again);
    table.again = Math.min(table.again * 2, SLOWEST_MS);
  });
}

async function refresh() {
  const { status, told: state } = await ask("/state", null, 1);
  if (status === 200 && state.seats) take(state);
}

function lose() {
  if (table.isLost || table.left || table.state && table.state.over) return;
  table.isLost = true;
  say(byId("lost-words"), "The connection to the table is lost. Nothing of the game is; this page tries again by itself. If it stays so, look whether the command that opened the table still runs.");
  show(byId("lost"), true);
  tell("The connection to the table is lost. Trying again.");
}

function found() {
  table.again = 1000;
  if (!table.isLost) return;
  table.isLost = false;
  table.sent = null;
  show(byId("lost"), false);
  tell("The connection is back.");
}

function barred() {
  if (table.source) table.source.close();
  clearTimeout(table.retry);
  say(byId("lost-words"), "This browser has no seat at the table. Open the link that the command shows in the terminal.");
  show(byId("lost"), true);
}

// By keyboard.

function key(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing || !table.state || document.querySelector("dialog[open]")) return;
  const target = event.target;
  if (event.key === "Escape") { if (target.id === "command") target.blur(); dismiss(); return; }
  if (["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName)) return;
  if (["ArrowLeft", "ArrowRight"].includes(event.key)) { if (walk(target, event.key === "ArrowRight" ? 1 : -1)) event.preventDefault(); return; }
  if (settings.keys !== "on") return;
  const { state } = table;
  if (event.key === "/") { event.preventDefault(); byId("command").focus(); return; }
  if (event.key === "?") { event.preventDefault(); open("help"); return; }
  if (event.key === "Enter") {
    if (target.closest("button, a, summary, [role=log]")) return;
    if (state.turn && state.turn.choose) { event.preventDefault(); keep(); } else if (state.sheet && !state.over || state.paused) { event.preventDefault(); goOn(); }
    return;
  }
  if (event.key.length !== 1 || event.repeat) return;
  const pressed = event.key.toLowerCase();
  const move = state.turn && state.moves.find(one => one.key && one.key.toLowerCase() === pressed);
  if (move) { event.preventDefault(); tryMove(move); return; }
  if (/\d/.test(pressed)) {
    const held = state.hand[(Number(pressed) + 9) % 10];
    if (held && !state.moves.length) { event.preventDefault(); tryCard(held.card); }
    return;
  }
  if (/[akqjtcdhs]/.test(pressed)) {
    const buttons = [...byId("hand").querySelectorAll("button")], at = buttons.indexOf(document.activeElement);
    const next = [...buttons.slice(at + 1), ...buttons.slice(0, at + 1)].find(button => button.dataset.card.toLowerCase().includes(pressed));
    if (next) { event.preventDefault(); next.focus(); }
  }
}

function walk(target, by) {
  const list = target.closest("#hand, #moves");
  if (!list) return false;
  const buttons = [...list.querySelectorAll("button")];
  buttons[(buttons.indexOf(target) + by + buttons.length) % buttons.length].focus();
  return true;
}

function dismiss() {
  const had = byId("ruling").contains(document.activeElement) || byId("hint-panel").contains(document.activeElement);
  const card = table.ruling && table.ruling.card;
  table.ruling = table.hint = null;
  const back = card && byId("hand").querySelector(`[data-card="${CSS.escape(card)}"]`);
  if (had) (back || byId("prompt")).focus({ preventScroll: true });
  if (table.state) draw(table.shown, null);
}

function command(typed) {
  settle();
  const { state } = table, read = readCommand(typed, state);
  if (!read) { tell(`The table does not know “${typed.trim().slice(0, 40)}”. ${ANSWERS.help()}`); return; }
  if (read.move) tryMove(read.move);
  else if (read.card) tryCard(read.card);
  else if (read.cards) {
    if (!state.turn || !state.turn.choose) { tell("You are not asked which cards you keep."); return; }
    table.chosen = new Set(read.cards.filter(card => state.hand.some(held => held.card === card)));
    keep();
  } else if (read.command === "hint") advise();
  else if (read.command === "go on") goOn();
  else if (read.command === "leave") open("leave");
  else if (read.command === "pause") post("/pause", "The table cannot be paused now.");
  else if (read.command === "take back") post("/take-back", "There is nothing to take back.");
  else tell(ANSWERS[read.command](state), "answer");
}

// Dialogs and settings.

function open(id) {
  byId(id).showModal();
}

function useSettings() {
  document.documentElement.dataset.side = settings.side;
  document.documentElement.dataset.deck = settings.deck;
  document.documentElement.dataset.keys = settings.keys;
}

function readSettings() {
  try {
    const kept = JSON.parse(localStorage.getItem("referee-table") || "{}");
    for (const name of Object.keys(settings)) if (byId("settings").querySelector(`input[name="${name}"][value="${CSS.escape(String(kept[name]))}"]`)) settings[name] = kept[name];
  } catch { /* what cannot be read is as it was at first */ }
  for (const [name, value] of Object.entries(settings)) byId("settings").querySelector(`input[name="${name}"][value="${value}"]`).checked = true;
  useSettings();
}

byId("settings").addEventListener("change", event => {
  settings[event.target.name] = event.target.value;
  useSettings();
  try { localStorage.setItem("referee-table", JSON.stringify(settings)); } catch { /* then they hold as long as the page */ }
});

const CLICKS = {
  "open-help": () => open("help"), "open-settings": () => open("settings"), "open-leave": () => open("leave"), hint: advise, confirm: keep, "close-ruling": dismiss, "close-hint": dismiss, "go-on": goOn, "try-now": listen,
  clear: () => { table.chosen = new Set(preset(table.state).filter(card => table.state.hand.some(held => held.must && held.card === card))); draw(table.state, null); },
  pause: () => table.state.paused ? goOn() : post("/pause", "The table cannot be paused now."),
  "take-back": () => post("/take-back", "There is nothing to take back."),
  "really-leave": async () => {
    if (!await post("/leave", "The table could not be left.")) return;
    table.left = true;
    table.source.close();
    tell("You have left the table.");
    draw(table.state, null);
  },
};

document.addEventListener("click", event => {
  const button = event.target.closest("button");
  if (!button || !table.state && button.id !== "try-now") return;
  if (button.dataset.card) tryCard(button.dataset.card);
  else if (button.dataset.move) { settle(); const move = table.state.moves.find(one => one.move === button.dataset.move); if (move) tryMove(move); }
  else if (CLICKS[button.id]) CLICKS[button.id]();
});
document.addEventListener("keydown", key);
byId("command-form").addEventListener("submit", event => {
  event.preventDefault();
  const box = byId("command");
  if (table.state && box.value.trim()) command(box.value);
  box.value = "";
});
document.addEventListener("visibilitychange", () => { if (!document.hidden) { settle(); refresh(); } });
window.addEventListener("online", listen);

readSettings();
const first = byId("first-state").textContent.trim();
if (first) take(JSON.parse(first));
listen();
