import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import type { ServiceOptions } from '#test/start-service.ts';
import { type PageConfiguration, type PageFixture, startPageFixture } from './support.ts';

/** A page fixture whose chats are stored in a database, so that answers run in the background. */
export interface ChatsFixture extends PageFixture {
  readonly database: ResponseDatabase;
}

export async function startChatsFixture(
  configuration: PageConfiguration = {},
  options: ServiceOptions = {},
): Promise<ChatsFixture> {
  const database = await openResponses('SQLite');
  const fixture = await startPageFixture(configuration, {
    ...{ chats: database.chats(), shares: database.shares(), responses: database.stores() },
    ...options,
  });
  return {
    ...fixture,
    database,
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}
