import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseJson } from '#base/json/json.ts';

/** Storage of a node: SQLite with limits in memory, or PostgreSQL with limits in Redis. */
export type Storage = 'embedded' | 'shared';

/** Work of the nodes and stores: of a run, one call, one chunk, or one second of an idle node. CPU is in microseconds. */
export interface Work {
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
  readonly calls: Readonly<Record<Kind, Work>>;
  /** A unary call without limits. */
  readonly unlimitedCall: Work;
  /** A chunk of a paced stream. */
  readonly pacedChunk: Work;
  /** A chunk of a stream whose chunks arrive together. */
  readonly burstChunk: Work;
  /** One second of a node without calls. */
  readonly idleSecond: Work;
  readonly idleBytes: number;
  /** Memory of a node under load, without its open streams. */
  readonly busyBytes: number;
  /** Memory of an open stream. */
  readonly streamBytes: number;
}

/** The table of `bench/README.md`, which `npm run bench:capacity` measures and `npm run plan` reads. */
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

export function mapWork(work: Work, toValue: (value: number, name: keyof Work) => number): Work {
  return Object.fromEntries(
    Object.entries(work).map(([name, value]) => [name, toValue(value, name as keyof Work)]),
  ) as unknown as Work;
}

/** Adds the idle work of a number of nodes with one worker. */
export function addWork(work: Work, idleSecond: Work, count: number): Work {
  return mapWork(work, (value, name) => value + count * idleSecond[name]);
}

export function subtractWork(end: Work, start: Work): Work {
  return mapWork(end, (value, name) => value - start[name]);
}

/** Work of one second, without the idle work of the nodes. */
export function computeWork(table: CostTable, load: Load): Work {
  const { calls, pacedChunk } = table[load.storage];
  const starts = load.streams / load.streamSeconds;
  const parts: readonly (readonly [Work, number])[] = [
    [calls[load.kind], load.callsPerSecond],
    [calls.stream, starts],
    [pacedChunk, load.streams * load.chunksPerSecond],
  ];
  return mapWork(pacedChunk, (_, name) => parts.reduce((sum, [work, count]) => sum + work[name] * count, 0));
}
