"use strict";
// A game as frames: positions, rulings and scorings in order. The data are described in replay_json.py.

const RANKS = "23456789TJQKA", SUITS = "CDHS";
const SUIT_NAMES = ["clubs", "diamonds", "hearts", "spades"];
const RANK_NAMES = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king", "ace"];
const KIND = { BID: 1, STAND_OR_BEG: 2, ANSWER_BEG: 3, NAME_TRUMP: 4, DISCARD: 5, PLAY: 6 };
const CALLS = ["", "stand", "beg", "give", "run"];

const place = letter => letter < "a" ? letter.charCodeAt(0) - 65 : letter.charCodeAt(0) - 71;
const cardText = letter => RANKS[place(letter) % 13] + SUITS[place(letter) / 13 | 0];
const cardName = letter => `${RANK_NAMES[place(letter) % 13]} of ${SUIT_NAMES[place(letter) / 13 | 0]}`;
const letterOf = number => {
  const at = (number >> 4) * 13 + (number & 15) - 2;
  return String.fromCharCode(at < 26 ? 65 + at : 71 + at);
};
const sorted = hand => [...hand].sort((one, other) => place(other) - place(one));

function actionText(kind, action) {
  if (kind === KIND.BID) return action ? String(action) : "pass";
  if (kind === KIND.NAME_TRUMP) return SUIT_NAMES[action];
  if (kind === KIND.PLAY) return cardText(action);
  if (kind === KIND.DISCARD) return `keep ${sorted(action).map(cardText).join(" ")}`;
  return CALLS[action];
}

function eventText(game, packed, first) {
  const kind = packed >> 16, who = game.names[packed >> 8 & 255], value = packed & 255;
  const card = [6, 9, 11, 12, 13].includes(kind) ? cardName(letterOf(value)) : "";
  switch (kind) {
    case 1: return value ? `${who} bids ${value}.` : `${who} passes.`;
    case 2: return `${who} stands.`;
    case 3: return `${who} begs.`;
    case 4: return `${who} gives a point.`;
    case 5: return `${who} runs the cards.`;
    case 6: return `The ${card} is turned up.`;
    case 7: return `${who} names ${SUIT_NAMES[value]} as trump.`;
    case 8: return `${who} lays away ${value} ${value === 1 ? "card" : "cards"} face down.`;
    case 9: return `${who} lays away the ${card}, face up.`;
    case 10: return `${who} draws ${value} ${value === 1 ? "card" : "cards"}.`;
    case 11: return `${who} takes the ${card}.`;
    case 12: return `The ${card} is the new top of the stock.`;
    case 13: return `${who} ${first ? "leads" : "plays"} the ${card}.`;
    case 14: return `${who} scores ${value} at once.`;
  }
  return `${who}: event ${kind}, ${value}.`;
}

function eventsOf(step) {
  const [seat, kind, action, , more] = step;
  if (more && more.e) return more.e;
  if (kind === KIND.PLAY) return [13 << 16 | seat << 8 | (place(action) / 13 | 0) << 4 | place(action) % 13 + 2];
  return [(kind === KIND.BID ? 1 : 7) << 16 | seat << 8 | action];
}

function takeEvents(state, events) {
  for (const packed of events) {
    const kind = packed >> 16, seat = packed >> 8 & 255, value = packed & 255;
    if (kind === 1) state.calls[seat] = value ? `bid ${value}` : "pass";
    else if (kind >= 2 && kind <= 5) state.calls[seat] = ["stands", "begs", "gives", "runs"][kind - 2];
    else if (kind === 7) state.calls[seat] = `names ${SUIT_NAMES[value]}`;
    else if (kind === 8) state.away[seat] += value;
    else if (kind === 9) { state.away[seat] += 1; state.shown.push(letterOf(value)); }
    else if (kind === 14) state.atOnce[seat] = (state.atOnce[seat] || 0) + value;
  }
}

function firstState(game, deal) {
  const seats = game.names.length;
  const state = {
    hands: deal.h, trick: [], winner: null, tricks: Array(seats).fill(0), number: 0, calls: Array(seats).fill(""),
    away: Array(seats).fill(0), shown: [], atOnce: {}, trump: deal.t ?? null, pitcher: null, bid: 0,
    stock: deal.u.length, turnUp: deal.c || null, text: [],
  };
  takeEvents(state, deal.e || []);
  state.text = [`${game.names[deal.d]} deals.`, ...(deal.e || []).map(event => eventText(game, event, false))];
  return state;
}

function nextState(game, before, step) {
  const [seat, kind, action, , more = {}] = step;
  const state = {
    ...before, hands: [...before.hands], tricks: [...before.tricks], calls: [...before.calls], away: [...before.away],
    shown: [...before.shown], atOnce: { ...before.atOnce }, trick: before.winner === null ? [...before.trick] : [], winner: null,
  };
  const events = eventsOf(step);
  state.text = events.map(event => eventText(game, event, !state.trick.length));
  if (more.x) state.text.unshift(`${game.names[seat]} has forfeited; the house plays on.`);
  takeEvents(state, events);
  if (kind === KIND.PLAY) {
    if (!state.trick.length) state.number += 1;
    state.trick.push([seat, action]);
    state.hands[seat] = state.hands[seat].replace(action, "");
    state.calls = state.calls.map(() => "");
  }
  for (const [other, hand] of Object.entries(more.h || {})) state.hands[other] = hand;
  if ("t" in more) state.trump = more.t;
  if ("p" in more) state.pitcher = more.p;
  if ("b" in more) state.bid = more.b;
  if ("n" in more) state.stock = more.n;
  if ("c" in more) state.turnUp = more.c;
  if ("w" in more) {
    state.winner = more.w;
    state.tricks[more.w] += 1;
    state.text.splice(more.x ? 2 : 1, 0, `${game.names[more.w]} takes the trick.`);
  }
  return state;
}

// One frame: a position, and with it a ruling on the decision that follows, or the scoring of the deal that is over.
function buildFrames(game) {
  const frames = [];
  game.deals.forEach((deal, number) => {
    const rulings = game.rulings.filter(ruling => ruling.deal === number);
    let state = firstState(game, deal);
    for (let k = 0; k <= deal.steps.length; k += 1) {
      const step = deal.steps[k];
      const ask = step ? [step[0], step[1], step[3]] : deal.q || null;
      const frame = { deal: number, step: k, state, ask, ruling: null, scoring: !step && deal.o ? deal.o : null };
      frames.push(frame);
      for (const ruling of rulings.filter(one => one.step === k)) frames.push({ ...frame, ruling, scoring: null });
      if (step) state = nextState(game, state, step);
    }
  });
  return frames;
}

function frameText(game, frame) {
  const { ruling, scoring, state } = frame;
  if (ruling) return `Ruling against ${game.names[ruling.seat]}: ${ruling.rule || ruling.fault}. ${ruling.says}`;
  const asked = frame.ask && !scoring && state.winner === null ? ` ${game.names[frame.ask[0]]} is to ${asks(frame.ask[1])}.` : "";
  return state.text.join(" ") + (scoring ? " The deal is scored." : asked);
}

function asks(kind) {
  return { 1: "bid", 2: "stand or beg", 3: "give or run", 4: "name trump", 5: "lay cards away", 6: "play" }[kind];
}
