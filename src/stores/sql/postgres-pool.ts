import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { DatabaseError, Pool, type PoolClient, types } from 'pg';
import type { Secret } from '#base/secret.ts';

export interface PoolLimits {
  readonly connectMs: number;
  /** For one statement, on either side of the wire. */
  readonly statementMs: number;
  readonly maxConnections: number;
}

const int8 = 20;

/** Connections that are made when they are needed, and given up when they do not answer: a server that comes back is found again. */
export class PatientPool implements PostgresPool {
  readonly options = {};
  readonly #pool: Pool;

  constructor(url: Secret, { connectMs, statementMs, maxConnections }: PoolLimits) {
    this.#pool = new Pool({
      connectionString: url.reveal(),
      application_name: 'parley',
      max: maxConnections,
      keepAlive: true,
      connectionTimeoutMillis: connectMs,
      query_timeout: statementMs,
      statement_timeout: statementMs,
      // A node that dies in the middle of a transaction lets go of its locks.
      idle_in_transaction_session_timeout: statementMs,
      types: { getTypeParser: (oid, format) => (oid === int8 ? Number : types.getTypeParser(oid, format)) },
    });
    // A connection that breaks while idle is not reported: the next user of the pool gets another one.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  async connect(): Promise<PostgresPoolClient> {
    return new Connection(await this.#pool.connect()) as CursorlessClient as PostgresPoolClient;
  }

  end(): Promise<void> {
    return this.#pool.end();
  }
}

/** What is left of a connection without its cursors: nothing here uses them. */
type CursorlessClient = Pick<PostgresPoolClient, 'release'>;

/** One connection while somebody uses it. After a fault that did not come from the server nothing is asked of it any more. */
class Connection {
  readonly #client: PoolClient;
  #broken: Error | undefined;

  constructor(client: PoolClient) {
    this.#client = client;
  }

  async query(text: string, parameters: readonly unknown[]): Promise<unknown> {
    if (this.#broken !== undefined) throw this.#broken;
    try {
      return await this.#client.query(text, [...parameters]);
    } catch (thrown) {
      if (!(thrown instanceof DatabaseError)) this.#broken = thrown instanceof Error ? thrown : new Error(String(thrown));
      throw thrown;
    }
  }

  release(isDiscarded?: boolean): void {
    this.#client.release(isDiscarded || this.#broken !== undefined);
  }
}
