"use strict";
// What is shown of a State, and in which words. Nothing here touches the page or the network.

const RANK_NAMES = { 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", T: "ten", J: "jack", Q: "queen", K: "king", A: "ace" };
const SUIT_NAMES = { C: "clubs", D: "diamonds", H: "hearts", S: "spades" };
const CARD = /\b([2-9TJQKA])([CDHS])\b/g;

const cardName = card => `${RANK_NAMES[card[0]]} of ${SUIT_NAMES[card[1]]}`;
const capital = text => text && text[0].toUpperCase() + text.slice(1);
const number = value => value < 0 ? `−${-value}` : String(value);
const signed = value => value > 0 ? `+${value}` : number(value);
const some = (count, what) => count === 1 ? `1 ${what}` : `${count} ${what}s`;
const listed = (words, last = "and") => words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
const sentence = text => /[.!?]$/.test(text) ? text : `${text}.`;

// A sentence as a screen reader says it: cards by their names.
const spoken = text => text.replace(CARD, card => cardName(card));

// A sentence in parts: plain text, and cards.
function parts(text) {
  const made = [];
  let from = 0;
  for (const found of text.matchAll(CARD)) {
    made.push({ text: text.slice(from, found.index) }, { card: found[0] });
    from = found.index + 2;
  }
  made.push({ text: text.slice(from) });
  return made.filter(part => part.card || part.text);
}

const seatName = (state, seat) => state.seats[seat] ? state.seats[seat].name : `seat ${seat + 1}`;
const starts = name => name === "you" ? "You" : name; // a name is written as it is
const whose = (state, seat) => seat === state.you ? "you" : seatName(state, seat);

// Sides: the seats that share a score, each side once, in the order of seats.
function sides(state) {
  const made = [];
  for (const one of state.seats) {
    const mate = made.find(side => side.seats.some(seat => seat === one.partner || state.seats[seat].partner === one.seat));
    if (mate) mate.seats.push(one.seat);
    else made.push({ seats: [one.seat], score: one.score });
  }
  return made.map(side => ({ ...side, name: listed(side.seats.map(seat => seatName(state, seat))) }));
}

const sameCards = (one, other) => one.length === other.length && one.every((played, i) => played.card === other[i].card && played.seat === other[i].seat);
const begins = (part, whole) => part.length <= whole.length && sameCards(part, whole.slice(0, part.length));

// The pictures between what was shown and what is: cards go to the trick one by one, and a full trick rests until it is taken.
// Each stands for `lasts` milliseconds; the state itself comes after the last one.
function between(shown, state, pace) {
  if (!pace || !shown || shown.game.deal !== state.game.deal) return [];
  const { last_trick: before } = shown, { last_trick: taken } = state;
  const isNew = taken !== null && !(before && before.winner === taken.winner && sameCards(before.cards, taken.cards));
  const pictures = [];
  const lay = (cards, count, lastTrick, winner = null) => pictures.push({
    state: picture(shown, state, cards.slice(0, count), cards[count], lastTrick), winner, lasts: winner === null ? pace : 2.4 * pace,
  });
  let from = begins(shown.trick, state.trick) ? shown.trick.length : 0;
  if (isNew) {
    const seen = begins(shown.trick, taken.cards) ? shown.trick.length : 0;
    for (let count = seen + 1; count < taken.cards.length; count += 1) lay(taken.cards, count, before);
    lay(taken.cards, taken.cards.length, before, taken.winner);
    from = 0;
  }
  for (let count = from + 1; count < state.trick.length; count += 1) lay(state.trick, count, taken);
  return pictures;
}

function picture(shown, state, trick, next, lastTrick) {
  const gone = new Set(trick.filter(played => played.seat === state.you).map(played => played.card));
  return {
    ...shown, trick, last_trick: lastTrick, log: state.log, paused: false, turn: null, moves: [], sheet: null, over: null,
    hand: shown.hand.filter(held => !gone.has(held.card)),
    seats: shown.seats.map(seat => ({ ...seat, thinking: Boolean(next) && next.seat === seat.seat })),
  };
}

// What `turn.choose` asks for: how many are chosen, and in words what is still to do.
function choiceText(state, chosen) {
  const [least, most] = state.turn.choose, count = chosen.size, all = state.hand.length;
  const wanted = least === most ? String(least) : `${least} to ${most}`;
  if (count < least) return `Keep ${wanted} of your ${all} cards: choose ${least - count} more.`;
  if (count > most) return `Keep ${wanted} of your ${all} cards: ${count - most} too many.`;
  return count === all ? `You keep all ${all}.` : `You keep ${count} and lay ${some(all - count, "card")} away.`;
}

// Answers of the command box, each one sentence or more.
const ANSWERS = {
  hand: state => state.hand.length ? `You hold ${listed(state.hand.map(held => held.name))}.` : "You hold no cards.",
  trick: state => state.trick.length ? `To this trick: ${listed(state.trick.map(played => `${played.name} by ${whose(state, played.seat)}`))}.` : "No card has been played to this trick.",
  last: state => state.last_trick ? `Last trick: ${listed(state.last_trick.cards.map(played => `${played.name} by ${whose(state, played.seat)}`))}. ${starts(whose(state, state.last_trick.winner))} took it.` : "No trick has been taken in this deal.",
  score: state => `${listed(sides(state).map(side => `${side.name} ${side.score < 0 ? `minus ${-side.score}` : side.score}`))}. The game goes to ${state.game.target}.`,
  table: state => state.seats.map(seat => `${seat.name}: ${listed([...marks(state, seat), some(seat.cards, "card")])}`).join(". ") + `. ${trumpText(state)}`,
  why: state => {
    if (!state.turn) return "It is not your turn.";
    const barred = state.hand.filter(held => !held.legal && held.why), unsaid = state.moves.filter(move => !move.legal && move.why);
    if (!barred.length && !unsaid.length) return "You may do anything that is offered.";
    const reasons = new Map();
    for (const item of [...barred, ...unsaid]) {
      const reason = `${sentence(item.why)}${item.rule ? ` That is rule ${item.rule}.` : ""}`;
      reasons.set(reason, [...(reasons.get(reason) || []), item.name || item.label]);
    }
    return [...reasons].map(([reason, names]) => `Not ${listed(names, "or")}: ${reason}`).join(" ");
  },
  log: state => state.log.slice(-5).map(line => line.text).join(" "),
  help: () => "Say hand, trick, last, score, table, log, why or hint to hear about it. Say a card, such as QH, to play it, or a move, such as bid 3, pass, beg, hearts, keep AS KS 2H. Say go on after a deal, and leave to leave.",
};

function trumpText(state) {
  return state.trump ? `Trump is ${SUIT_NAMES[state.trump]}.` : "Trump is not fixed yet.";
}

// What a seat is and has said, in a few words each.
function marks(state, seat) {
  const made = [];
  const mine = state.seats[state.you];
  if (mine && seat.seat !== state.you && mine.partner === seat.seat) made.push("your partner");
  if (seat.dealer) made.push("dealer");
  const amount = /^[1-9]\d*$/.test(seat.bid);
  if (seat.pitcher) made.push(amount ? `pitches for ${seat.bid}` : "pitches");
  else if (seat.bid && !["play", "over"].includes(state.phase)) made.push(amount ? `bid ${seat.bid}` : seat.bid);
  if (seat.tricks) made.push(some(seat.tricks, "trick"));
  if (seat.out) made.push(seat.out);
  return made;
}

// What was typed, as {command}, {card}, {cards} or {move}; null where it is nothing that the table knows.
const WORD_RANKS = { two: "2", three: "3", four: "4", five: "5", six: "6", seven: "7", eight: "8", nine: "9", ten: "T", jack: "J", queen: "Q", king: "K", ace: "A", 10: "T" };
const ONE_CARD = /^(10|[2-9tjqka]|two|three|four|five|six|seven|eight|nine|ten|jack|queen|king|ace) ?(?:of )?([cdhs]|clubs?|diamonds?|hearts?|spades?)$/;

function readCard(text) {
  const found = ONE_CARD.exec(text);
  return found ? (WORD_RANKS[found[1]] || found[1].toUpperCase()) + found[2][0].toUpperCase() : null;
}

function readCommand(typed, state) {
  const text = typed.toLowerCase().replace(/[.,!?;]+/g, " ").replace(/\s+/g, " ").trim();
  if (!text) return null;
  for (const move of state.moves) {
    if ([move.move, move.label, `bid ${move.move}`, move.key].some(word => word && word.toLowerCase() === text)) return { move };
  }
  const word = text.replace(/^((the|my|say|play|lead|call) )+/, "");
  if (text in ANSWERS || text === "hint") return { command: text };
  if (["scores", "points"].includes(text)) return { command: "score" };
  if (["go on", "go", "next", "next deal", "on"].includes(text)) return { command: "go on" };
  if (["pause", "leave", "take back", "undo"].includes(text)) return { command: text === "undo" ? "take back" : text };
  if (text.startsWith("keep ")) {
    const cards = text.slice(5).replace(/ of /g, "-").split(" ").map(one => readCard(one.replace("-", " of ")));
    return cards.every(Boolean) ? { cards } : null;
  }
  const card = readCard(word);
  if (card) return { card };
  for (const move of state.moves) if ([move.move, move.label].some(one => one.toLowerCase() === word)) return { move };
  return null;
}
