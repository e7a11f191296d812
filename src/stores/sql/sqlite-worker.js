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
const behind = "set_config('synchronous_commit', 'off', true)";
const syncBehind = database.prepare('pragma synchronous = normal');
const syncFirst = database.prepare('pragma synchronous = full');

/** Cache of prepared statements, because preparing a statement can cost more than running it. */
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
/** Error of the last sync. The next statement fails with it. */
let unsynced;

/** Syncs the acknowledged writes to disk. */
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
    // Inside a transaction the error is not thrown, because the transaction would stay open.
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
