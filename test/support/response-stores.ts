import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import { SqlApplicationStore } from '#stores/sql/applications/application-store.ts';
import { SqlChatStore } from '#stores/sql/chats/chat-store.ts';
import { SqlShareStore } from '#stores/sql/chats/share-store.ts';
import type { SqlDatabase } from '#stores/sql/engine/sql-database.ts';
import { openSqlite } from '#stores/sql/engine/sqlite.ts';
import { SqlEvaluationStore } from '#stores/sql/evaluations/evaluation-store.ts';
import { SqlConversationStore } from '#stores/sql/responses/conversation-store.ts';
import { SqlResponseStore } from '#stores/sql/responses/response-store.ts';
import { createFreshDatabase } from './fresh-database.ts';
import { openPostgres } from './start-postgres.ts';
import type { ServiceOptions } from './start-service.ts';
import { openFolder } from './temporary-folder.ts';

export interface ResponseDatabase extends AsyncDisposable {
  readonly database: SqlDatabase;
  /** Returns the application and evaluation stores of a node on this database. */
  evaluating(): Required<Pick<ServiceOptions, 'applications' | 'evaluations'>>;
  /** Returns the response stores of a node on this database. */
  stores(): NonNullable<ServiceOptions['responses']>;
  /** Returns the store of shared chats of a node on this database. */
  shares(): NonNullable<ServiceOptions['shares']>;
  /** Returns the chat store of a node on this database. */
  chats(): NonNullable<ServiceOptions['chats']>;
}

/** A statement can wait for seconds on a busy machine. */
const patient = { timeoutMs: 60_000 };

/** Creates a database for responses. Disposal deletes it. */
export async function openResponses(engine: 'SQLite' | 'PostgreSQL'): Promise<ResponseDatabase> {
  const location = engine === 'SQLite' ? await openFolder() : await createFreshDatabase();
  const opened =
    'url' in location ? await openPostgres(location.url, patient) : await openSqlite(`${location.path}/parley.db`, patient);
  const { database } = opened;
  const seal = new Seal([new Secret('a secret of this test')]);
  return {
    database,
    evaluating: () => ({
      applications: new SqlApplicationStore(database, seal),
      evaluations: {
        store: new SqlEvaluationStore(database, seal),
        leases: new SqlResponseStore(database, seal).runs,
        isShared: engine === 'PostgreSQL',
      },
    }),
    stores: () => ({
      responses: new SqlResponseStore(database, seal),
      conversations: new SqlConversationStore(database, seal),
      isShared: engine === 'PostgreSQL',
    }),
    shares: () => new SqlShareStore(database, seal),
    chats: () => new SqlChatStore(database, seal),
    async [Symbol.asyncDispose]() {
      await opened.close();
      await location[Symbol.asyncDispose]();
    },
  };
}
