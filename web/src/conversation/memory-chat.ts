import { createMemoryDatabase } from './database.ts';
import { Library } from './library.ts';
import { Outbox } from './outbox.ts';
import { ReplyRunner, type ReplyRunnerOptions } from './reply-runner.ts';

interface MemoryChat {
  readonly library: Library;
  readonly replyRunner: ReplyRunner;
  readonly outbox: Outbox;
}

/** Chats that exist only in memory, without browser storage, service, or other tabs. */
export function createMemoryChat(options: Omit<ReplyRunnerOptions, 'library'>): MemoryChat {
  const library = new Library(createMemoryDatabase());
  const replyRunner = new ReplyRunner({ ...options, library });
  return { library, replyRunner, outbox: new Outbox({ library, replyRunner }) };
}
