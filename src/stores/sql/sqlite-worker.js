import { fdatasyncSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/*
 * Runs in a thread of its own: a statement comes in, its rows go out. Its types are in sqlite-thread.ts. It is JavaScript
 * because each thread that reads TypeScript takes 20 MB more, and 35 ms.
 */
const { file, timeoutMs } = workerData;
const database = new DatabaseSync(file, { timeout: timeoutMs });
database.exec('pragma journal_mode = wal; pragma synchronous = full');

/** What PostgreSQL has under this name: it says nothing here but that a statement is to be synced behind its answer. */
database.function('set_config', { varargs: true }, () => null);
const behind = "set_config('synchronous_commit', 'off', true)";
const syncBehind = database.prepare('pragma synchronous = normal');
const syncFirst = database.prepare('pragma synchronous = full');

/** Statements come again and again, and to prepare one can cost more than to run it. */
const prepared = new Map();
const mostPrepared = 100;

function prepare(text) {
  let found = prepared.get(text);
  if (found === undefined) {
    if (prepared.size >= mostPrepared) prepared.clear();
    const statement = database.prepare(text);
    found = { statement, givesRows: statement.columns().length > 0, isBehind: text.includes(behind) };
    prepared.set(text, found);
  }
  return found;
}

function run({ statement, givesRows }, parameters) {
  if (givesRows) return { rows: statement.all(...parameters), changes: undefined };
  return { rows: [], changes: statement.run(...parameters).changes };
}

let log;
let isSyncDue = false;
/** Why the last sync failed; the next statement fails with it. */
let unsynced;

/** Puts on the disk what was answered before that. */
function syncLog() {
  isSyncDue = false;
  try {
    log ??= openSync(`${file}-wal`, 'r');
    fdatasyncSync(log);
  } catch (error) {
    unsynced = error;
  }
}

function runAndSyncBehind(found, parameters) {
  syncBehind.run();
  try {
    return run(found, parameters);
  } finally {
    syncFirst.run();
    if (!isSyncDue) setImmediate(syncLog);
    isSyncDue = true;
  }
}

function answer({ text, parameters }) {
  try {
    // Not in a transaction, which would be left half open.
    if (unsynced !== undefined && !database.isTransaction) throw unsynced;
    const found = prepare(text);
    return found.isBehind && !database.isTransaction ? runAndSyncBehind(found, parameters) : run(found, parameters);
  } catch (error) {
    if (error === unsynced) unsynced = undefined;
    return { error };
  }
}

parentPort?.on('message', (question) => {
  if (question !== 'close') return parentPort?.postMessage(answer(question));
  database.close();
  parentPort?.close();
});
parentPort?.postMessage({ rows: [], changes: undefined });
