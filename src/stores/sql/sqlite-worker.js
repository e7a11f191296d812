import { fdatasyncSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/*
 * Runs in a separate thread: receives statements and returns their rows. The types are in engine/sqlite.ts. Plain JavaScript,
 * because each thread that loads TypeScript takes 20 MB more memory and 35 ms longer to start.
 */
const { file, timeoutMs } = workerData;
const database = new DatabaseSync(file, { timeout: timeoutMs });
database.exec('pragma journal_mode = wal; pragma synchronous = full');

/** Stand-in for the PostgreSQL function of this name. It only marks statements that are synced after they are acknowledged. */
database.function('set_config', { varargs: true }, () => null);
const asyncCommit = "set_config('synchronous_commit', 'off', true)";
const enableNormalSync = database.prepare('pragma synchronous = normal');
const enableFullSync = database.prepare('pragma synchronous = full');

/**
 * Cache of prepared statements, because preparing a statement can cost more than running it. The least recently used one is first.
 * A statement takes about 200 bytes for each parameter, and retains the values of its last run. Inserts have a different text for
 * each number of rows, so the parameters of all statements are bounded too.
 */
const prepared = new Map();
const maxPrepared = 100;
const maxParameters = 20_000;
/** Length of a text value that no cached statement retains. */
const largeLength = 32 * 1024;
let parameterCount = 0;

function prepare(text, parameters) {
  const cached = prepared.get(text);
  prepared.delete(text);
  const entry = cached ?? toEntry(text, parameters.length);
  prepared.set(text, entry);
  if (cached !== undefined) return entry;
  parameterCount += entry.parameters;
  for (const [oldest] of prepared) {
    if (oldest === text || (prepared.size <= maxPrepared && parameterCount <= maxParameters)) break;
    release(oldest);
  }
  return entry;
}

function toEntry(text, parameters) {
  const statement = database.prepare(text);
  return { statement, parameters, returnsRows: statement.columns().length > 0, isAsync: text.includes(asyncCommit) };
}

/** Frees the memory of a statement. Node 24 cannot close statements and leaves them to garbage collection. */
function release(text) {
  const { statement, parameters } = prepared.get(text);
  prepared.delete(text);
  parameterCount -= parameters;
  statement.close?.();
}

function isLarge(value) {
  return (typeof value === 'string' || value instanceof Uint8Array) && value.length > largeLength;
}

function run({ statement, returnsRows }, parameters) {
  if (returnsRows) return { rows: statement.all(...parameters), changes: undefined };
  return { rows: [], changes: statement.run(...parameters).changes };
}

let walFile;
let isSyncDue = false;
/** Error of the last sync. The next statement fails with it. */
let syncError;

/** Syncs the acknowledged writes, which are in the write-ahead log, to disk. */
function syncWal() {
  isSyncDue = false;
  try {
    walFile ??= openSync(`${file}-wal`, 'r');
    fdatasyncSync(walFile);
  } catch (error) {
    syncError = error;
  }
}

function runAndSyncLater(entry, parameters) {
  enableNormalSync.run();
  try {
    return run(entry, parameters);
  } finally {
    enableFullSync.run();
    if (!isSyncDue) setImmediate(syncWal);
    isSyncDue = true;
  }
}

function answer({ text, parameters }) {
  try {
    // Inside a transaction the error is not thrown, because the transaction would stay open.
    if (syncError !== undefined && !database.isTransaction) throw syncError;
    const entry = prepare(text, parameters);
    return entry.isAsync && !database.isTransaction ? runAndSyncLater(entry, parameters) : run(entry, parameters);
  } catch (error) {
    if (error === syncError) syncError = undefined;
    return { error };
  } finally {
    if (prepared.has(text) && parameters.some(isLarge)) release(text);
  }
}

parentPort?.on('message', (request) => {
  if (request !== 'close') return parentPort?.postMessage(answer(request));
  database.close();
  parentPort?.close();
});
parentPort?.postMessage({ rows: [], changes: undefined });
