// A bot for Referee that plays any legal move. To make it yours, change choose.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { credentials, loadPackageDefinition, Metadata } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import type { MoveInput } from "../build/allfours/v1/Move.js";
import type { Turn } from "../build/allfours/v1/Turn.js";
import type { ProtoGrpcType } from "../build/service.js";

const { REFEREE_ADDRESS = "", REFEREE_TOKEN = "", REFEREE_CA } = process.env;
if (!REFEREE_ADDRESS) {
  console.error("this is a bot: it plays when a referee starts it, as in: referee play . careful");
  process.exit(2);
}

// The build has put the .proto files beside this program. Ids are below 2^53: numbers hold them exactly.
const includeDirs = [join(import.meta.dirname, "../protos")];
const definition = loadSync("allfours/v1/service.proto", { includeDirs, longs: Number, defaults: true });
const { allfours } = loadPackageDefinition(definition) as unknown as ProtoGrpcType;

const authority = REFEREE_CA ? readFileSync(REFEREE_CA) : null; // null: those that the machine trusts
const trust = REFEREE_ADDRESS.startsWith("tls:") ? credentials.createSsl(authority) : credentials.createInsecure();
const client = new allfours.v1.RefereeService(REFEREE_ADDRESS.replace(/^(tcp|tls):/, ""), trust);
const metadata = new Metadata();
metadata.set("authorization", `Bearer ${REFEREE_TOKEN}`);

process.exitCode = 1; // until the farewell
const stream = client.play(metadata);
stream.write({ join: { name: "random-typescript", language: "typescript", maxInFlight: 64 } });
for await (const response of stream) {
  for (const ruling of response.rulings) console.error(ruling.ruleId, ruling.sentence);
  if (response.turns.length > 0) stream.write({ moves: response.turns.map(choose) });
  if (response.farewell) {
    process.exitCode = 0;
    stream.end(); // closes our side; the loop ends with the stream
  }
}
client.close();

/** One of what is legal: only the options of the turn's kind are filled. */
function choose(turn: Turn): MoveInput {
  const random = chance(turn);
  const pick = <Choice>(choices: Choice[] = []) => choices[Math.floor(random() * choices.length)];
  const { bids, cards, suits, calls, keep } = turn.options ?? {};
  const drawn = (keep?.mayKeep ?? []).map((card) => ({ card, at: random() })).sort((a, b) => a.at - b.at);
  return {
    turnId: turn.turnId,
    bid: pick(bids),
    card: pick(cards),
    suit: pick(suits),
    call: pick(calls),
    kept: [...(keep?.mustKeep ?? []), ...drawn.map(({ card }) => card)].slice(0, keep?.count),
  };
}

/** Numbers from 0 to below 1, the same whenever this turn is asked, so that a game can be played again (mulberry32). */
function chance(turn: Turn): () => number {
  let state = turn.botSeed + Math.imul(turn.deal, 0x9e3779b1) + Math.imul(turn.decision, 0x85ebca77) + turn.retry;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
