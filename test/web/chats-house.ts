import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import type { ServiceOptions } from '#test/start-service.ts';
import { type PageHouse, startPageHouse } from './support.ts';

/** A page fixture whose chats are stored in a database. */
export interface ChatsHouse extends PageHouse {
  readonly database: ResponseDatabase;
}

export async function startChatsHouse(configuration: object = {}, options: ServiceOptions = {}): Promise<ChatsHouse> {
  const database = await openResponses('SQLite');
  const house = await startPageHouse(configuration, {
    ...{ chats: database.chats(), shares: database.shares() },
    ...options,
  });
  return {
    ...house,
    database,
    async [Symbol.asyncDispose]() {
      await house[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}
