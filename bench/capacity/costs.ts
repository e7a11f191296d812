import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseJson } from '#base/json/json.ts';
import type { Storage } from './rig.ts';

/** Cost of one call, one chunk, or one second of an idle node. CPU is in microseconds. */
export interface Cost {
  readonly nodeMicros: number;
  readonly redisMicros: number;
  readonly redisCommands: number;
  readonly sqlMicros: number;
  readonly sqlTransactions: number;
  readonly walBytes: number;
}

/** Kinds of calls. A stream call has 10 chunks, and `quickApp` one tool call. */
export const kinds = ['unary', 'stream', 'messages', 'responses', 'storedResponses', 'quickApp'] as const;
export type Kind = (typeof kinds)[number];

/** Measured costs of a node with one worker on a storage. Memory is in bytes. */
export interface StorageCosts {
  readonly calls: Readonly<Record<Kind, Cost>>;
  /** A unary call without limits. */
  readonly unlimitedCall: Cost;
  /** A chunk of a paced stream. */
  readonly pacedChunk: Cost;
  /** A chunk of a stream whose chunks arrive together. */
  readonly burstChunk: Cost;
  /** One second of a node without calls. */
  readonly idleSecond: Cost;
  readonly idleBytes: number;
  /** Memory of a node under load, without its open streams. */
  readonly busyBytes: number;
  /** Memory of an open stream. */
  readonly streamBytes: number;
}

/** The table of `docs/scale.md`, which `npm run bench:capacity` measures and `npm run plan` reads. */
export interface CostTable {
  readonly measured: { readonly date: string; readonly machine: string; readonly node: string };
  readonly embedded: StorageCosts;
  readonly shared: StorageCosts;
}

const path = fileURLToPath(new URL('costs.json', import.meta.url));

export function readCosts(): CostTable {
  return parseJson(readFileSync(path, 'utf8')) as unknown as CostTable;
}

export function writeCosts(table: CostTable): void {
  writeFileSync(path, `${JSON.stringify(table, (_key, value) => (typeof value === 'number' ? round(value) : value), 2)}\n`);
}

function round(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

/** A load to plan for. */
export interface Load {
  readonly kind: Kind;
  readonly callsPerSecond: number;
  /** Open paced streams. */
  readonly streams: number;
  /** Chunks per second of each of them. */
  readonly chunksPerSecond: number;
  /** Average duration of a stream in seconds. */
  readonly streamSeconds: number;
  readonly storage: Storage;
}

/** Adds the idle work of a number of nodes with one worker. */
export function addWork(work: Cost, idleSecond: Cost, count: number): Cost {
  return Object.fromEntries(
    Object.entries(work).map(([name, value]) => [name, value + count * idleSecond[name as keyof Cost]]),
  ) as unknown as Cost;
}

/** Work of one second, without the idle work of the nodes. */
export function computeWork(table: CostTable, load: Load): Cost {
  const { calls, pacedChunk } = table[load.storage];
  const starts = load.streams / load.streamSeconds;
  const parts: readonly (readonly [Cost, number])[] = [
    [calls[load.kind], load.callsPerSecond],
    [calls.stream, starts],
    [pacedChunk, load.streams * load.chunksPerSecond],
  ];
  const sum = (name: keyof Cost): number => parts.reduce((all, [cost, count]) => all + cost[name] * count, 0);
  return {
    nodeMicros: sum('nodeMicros'),
    redisMicros: sum('redisMicros'),
    redisCommands: sum('redisCommands'),
    sqlMicros: sum('sqlMicros'),
    sqlTransactions: sum('sqlTransactions'),
    walBytes: sum('walBytes'),
  };
}
