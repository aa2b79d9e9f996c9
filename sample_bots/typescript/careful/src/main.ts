// A bot for Referee with sound play by rules of thumb. Here is how it talks; what it decides is in careful.ts.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { credentials, loadPackageDefinition, Metadata } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import type { RuleSet } from "../build/allfours/v1/RuleSet.js";
import type { Turn } from "../build/allfours/v1/Turn.js";
import type { ProtoGrpcType } from "../build/service.js";
import { Position } from "./careful.js";

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

const rules = new Map<number, RuleSet>();
function choose(turn: Turn) {
  const set = rules.get(turn.ruleSetId);
  if (!set) throw new Error(`the referee has not told the rule set ${turn.ruleSetId}`);
  return new Position(turn, set).choose();
}

process.exitCode = 1; // until the farewell
const stream = client.play(metadata);
stream.write({ join: { name: "careful-typescript", language: "typescript", maxInFlight: 64 } });
for await (const response of stream) {
  for (const set of response.joined?.ruleSets ?? []) rules.set(set.ruleSetId, set);
  for (const ruling of response.rulings) console.error(ruling.ruleId, ruling.sentence);
  if (response.turns.length > 0) stream.write({ moves: response.turns.map(choose) });
  if (response.farewell) {
    process.exitCode = 0;
    stream.end(); // closes our side; the loop ends with the stream
  }
}
client.close();
