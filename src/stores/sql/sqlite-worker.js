import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/*
 * Runs in a thread of its own: a statement comes in, its rows go out. Its types are in sqlite-thread.ts. It is JavaScript
 * because each thread that reads TypeScript takes 20 MB more, and 35 ms.
 */
const { file, timeoutMs } = workerData;
const database = new DatabaseSync(file, { timeout: timeoutMs });
database.exec('pragma journal_mode = wal; pragma synchronous = full');

/** Statements come again and again, and to prepare one can cost more than to run it. */
const prepared = new Map();
const mostPrepared = 100;

function prepare(text) {
  let statement = prepared.get(text);
  if (statement === undefined) {
    if (prepared.size >= mostPrepared) prepared.clear();
    statement = database.prepare(text);
    prepared.set(text, statement);
  }
  return statement;
}

function answer({ text, parameters }) {
  try {
    const statement = prepare(text);
    if (statement.columns().length > 0) return { rows: statement.all(...parameters), changes: undefined };
    return { rows: [], changes: statement.run(...parameters).changes };
  } catch (fault) {
    return { fault };
  }
}

parentPort?.on('message', (question) => {
  if (question !== 'close') return parentPort?.postMessage(answer(question));
  database.close();
  parentPort?.close();
});
parentPort?.postMessage({ rows: [], changes: undefined });
