import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface SqliteThreadOptions {
  readonly file: string;
  /** Milliseconds to wait for other processes that write. */
  readonly timeoutMs: number;
}

export interface SqliteQuestion {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

interface SqliteRows {
  readonly rows: readonly unknown[];
  /** How many rows were changed; undefined for a statement that gives rows. */
  readonly changes: number | bigint | undefined;
}

export type SqliteAnswer = SqliteRows | { readonly fault: unknown };

interface Asked {
  readonly resolve: (rows: SqliteRows) => void;
  readonly reject: (fault: unknown) => void;
}

/**
 * SQLite in a thread of its own, because it waits for the disk in the middle of a call: streams go on meanwhile. Statements
 * are run in the order they are asked.
 */
export class SqliteThread {
  readonly #worker: Worker;
  readonly #asked: Asked[] = [];
  #ended: Error | undefined;

  private constructor(options: SqliteThreadOptions) {
    this.#worker = new Worker(new URL('./sqlite-worker.js', import.meta.url), { workerData: options, execArgv: [] });
    this.#worker.on('message', (answer: SqliteAnswer) => this.#take(answer));
    this.#worker.on('error', (fault) => this.#end(fault as Error));
    this.#worker.on('exit', () => this.#end(new Error('the thread of the database ended')));
  }

  /** Resolves once the file is open. */
  static async open(options: SqliteThreadOptions): Promise<SqliteThread> {
    const thread = new SqliteThread(options);
    await thread.#nextAnswer();
    return thread;
  }

  ask(question: SqliteQuestion): Promise<SqliteRows> {
    this.#worker.postMessage(question);
    return this.#nextAnswer();
  }

  /** What was asked before is still answered. */
  async close(): Promise<void> {
    if (this.#ended !== undefined) return;
    this.#worker.ref();
    this.#worker.postMessage('close');
    await once(this.#worker, 'exit');
  }

  /** The thread keeps the process alive only while somebody waits for it. */
  #nextAnswer(): Promise<SqliteRows> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#ended);
      this.#worker.ref();
      this.#asked.push({ resolve, reject });
    });
  }

  #take(answer: SqliteAnswer): void {
    const asked = this.#asked.shift();
    if (this.#asked.length === 0) this.#worker.unref();
    if ('fault' in answer) asked?.reject(answer.fault);
    else asked?.resolve(answer);
  }

  #end(fault: Error): void {
    this.#ended ??= fault;
    for (const { reject } of this.#asked.splice(0)) reject(fault);
  }
}
