"use strict";
// The replay in the page: stepping, playing, jumping, and the view of one seat or of all.

const replay = { game: null, frames: [], at: 0, view: null, timer: null, opener: null };
const byId = id => document.getElementById(id);
const games = JSON.parse(byId("games-data").textContent);
const PACE = 1100;

function go(at) {
  replay.at = Math.min(Math.max(at, 0), replay.frames.length - 1);
  draw();
}

function seek(direction, wanted) {
  for (let at = replay.at + direction; at >= 0 && at < replay.frames.length; at += direction) {
    if (wanted(replay.frames[at], at)) return go(at);
  }
  return direction > 0 ? go(replay.frames.length - 1) : go(0);
}

// A stop: the start of a deal, the end of a trick, a scoring.
const isStop = (frame, at) => frame.step === 0 && !frame.ruling || (frame.state.winner !== null && !frame.ruling) || frame.scoring !== null || at === replay.frames.length - 1;

function play(on) {
  clearInterval(replay.timer);
  replay.timer = null;
  if (on && replay.at === replay.frames.length - 1) replay.at = 0;
  if (on) replay.timer = setInterval(() => {
    go(replay.at + 1);
    if (replay.at === replay.frames.length - 1) play(false);
  }, PACE);
  byId("play").textContent = on ? "Pause" : "Play";
  byId("play").setAttribute("aria-pressed", String(on));
  byId("now").setAttribute("aria-live", on ? "off" : "polite");
}

function draw() {
  const { game, frames, at, view } = replay, frame = frames[at];
  byId("line").replaceChildren(tableLine(game, frame));
  byId("felt").replaceChildren(trickBlock(game, frame), ...game.names.map((_, seat) => seatBlock(game, frame, seat, view)));
  byId("felt").classList.toggle("large", game.names.length > 4);
  byId("now").textContent = frameText(game, frame);
  const panels = frame.ruling ? [rulingPanel(game, frame, view)] : frame.scoring ? [scoringPanel(game, frame)] : [];
  if (at === frames.length - 1) panels.push(node("div", { class: "panel" }, node("p", { class: "result" }, resultText(game))));
  byId("panel").replaceChildren(...panels);
  const slider = byId("slider");
  slider.max = String(frames.length - 1);
  slider.value = String(at);
  slider.setAttribute("aria-valuetext", `step ${at + 1} of ${frames.length}: ${frameText(game, frame)}`);
  byId("count").textContent = `${at + 1} / ${frames.length}`;
  let current = null;
  for (const button of byId("sheet").querySelectorAll("button")) {
    if (Number(button.dataset.at) <= at) current = button;
    button.removeAttribute("aria-current");
  }
  if (current) { current.setAttribute("aria-current", "step"); keepInSight(byId("sheet"), current); }
  for (const [id, off] of [["first", at === 0], ["back", at === 0], ["step", at === frames.length - 1], ["last", at === frames.length - 1]]) {
    byId(id).setAttribute("aria-disabled", String(off));
  }
}

function keepInSight(box, item) {
  const top = item.offsetTop;
  if (top < box.scrollTop || top + item.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 2;
}

// The sheet: for each deal its calls, its tricks, its rulings and its scoring, each a button that jumps there.
function buildSheet() {
  const { game, frames } = replay, items = [];
  const button = (at, text, kind = "") => node("li", {}, node("button", { type: "button", class: kind, "data-at": at, onclick: () => { play(false); go(at); } }, text));
  let list = null, calls = false;
  frames.forEach((frame, at) => {
    const before = frames[at - 1];
    if (!before || before.deal !== frame.deal) {
      list = node("ol", {});
      items.push(node("h2", {}, `Deal ${frame.deal + 1}`), list);
      calls = false;
    }
    const { state } = frame;
    if (frame.ruling) list.append(button(at, `Ruling: ${game.names[frame.ruling.seat]}, ${frame.ruling.rule || frame.ruling.fault}`, "flag"));
    else if (!calls && frame.ask && frame.ask[1] !== KIND.PLAY) { calls = true; list.append(button(at, "Before the play")); }
    else if (before && before.deal === frame.deal && state.number > before.state.number) list.append(button(at, trickText(frames, at)));
    if (frame.scoring) list.append(button(at, `Scoring: ${frame.scoring.deltas.map(signed).join("  ")}`));
  });
  byId("sheet").replaceChildren(...items);
}

function trickText(frames, at) {
  const { deal, state: { number } } = frames[at];
  let whole = frames[at].state;
  for (let next = at; next < frames.length && frames[next].deal === deal && frames[next].state.number === number; next += 1) whole = frames[next].state;
  const winner = whole.winner === null ? "" : ` → ${replay.game.names[whole.winner]}`;
  return `${number}. ${whole.trick.map(([, letter]) => cardText(letter)).join(" ")}${winner}`;
}

function open(number, where) {
  const game = games.find(one => one.n === number);
  if (!game) return false;
  if (replay.game !== game) {
    replay.game = game;
    replay.frames = buildFrames(game);
    replay.view = null;
    byId("replay-title").textContent = `Game ${game.n}: ${game.names.join(", ")}`;
    byId("replay-why").textContent = [`${game.title}, to ${game.target}.`, ...game.why.map(text => `${text[0].toUpperCase()}${text.slice(1)}.`)].join(" ");
    byId("view").replaceChildren(node("option", { value: "" }, "all hands"), ...game.names.map((name, seat) => node("option", { value: seat }, `only what ${name} saw`)));
    byId("next-ruling").hidden = !game.rulings.length;
    buildSheet();
  }
  document.body.classList.add("replaying");
  byId("replay").hidden = false;
  // A number is a frame; r3 is the ruling with that number, d3 the deal.
  const [kind, which] = where && "rd".includes(where[0]) ? [where[0], Number(where.slice(1))] : ["", 0];
  const wanted = kind === "r" ? frame => frame.ruling === game.rulings[which] : frame => frame.deal === which;
  go(kind ? Math.max(replay.frames.findIndex(wanted), 0) : Number(where) || 0);
  byId("replay-title").focus({ preventScroll: true });
  window.scrollTo(0, 0);
  return true;
}

function close() {
  play(false);
  document.body.classList.remove("replaying");
  byId("replay").hidden = true;
}

function follow() {
  const found = /^#game-(\d+)(?:-([rd]?\d+))?$/.exec(location.hash);
  if (found && open(Number(found[1]), found[2])) return;
  if (document.body.dataset.only) open(games[0].n, "0");
  else if (!byId("replay").hidden) {
    const last = replay.game && byId(`row-${replay.game.n}`);
    close();
    if (last && location.hash === "#games") { last.scrollIntoView({ block: "center" }); last.querySelector("a").focus({ preventScroll: true }); }
    else if (location.hash) { const target = byId(location.hash.slice(1)); if (target) target.scrollIntoView(); }
  }
}

const COMMANDS = {
  first: () => go(0), "last-stop": () => seek(-1, isStop), back: () => go(replay.at - 1), step: () => go(replay.at + 1),
  "next-stop": () => seek(1, isStop), last: () => go(replay.frames.length - 1),
  "next-ruling": () => { const at = replay.frames.findIndex((frame, i) => i > replay.at && frame.ruling); go(at < 0 ? replay.frames.findIndex(frame => frame.ruling) : at); },
};
const KEYS = { ArrowLeft: "back", ArrowRight: "step", ArrowUp: "last-stop", ArrowDown: "next-stop", Home: "first", End: "last", r: "next-ruling" };

if (games.length) {
  for (const [id, command] of Object.entries(COMMANDS)) byId(id).addEventListener("click", () => { play(false); command(); });
  byId("play").addEventListener("click", () => play(replay.timer === null));
  byId("slider").addEventListener("input", event => { play(false); go(Number(event.target.value)); });
  byId("view").addEventListener("change", event => { replay.view = event.target.value === "" ? null : Number(event.target.value); draw(); });
  byId("replay").addEventListener("keydown", event => {
    if (event.altKey || event.ctrlKey || event.metaKey || ["SELECT", "INPUT"].includes(event.target.tagName)) return;
    const id = KEYS[event.key];
    if (id && !byId(id).hidden) { event.preventDefault(); play(false); COMMANDS[id](); }
    else if (event.key === " " && event.target.tagName !== "BUTTON") { event.preventDefault(); play(replay.timer === null); }
  });
  window.addEventListener("hashchange", follow);
  follow();
}
