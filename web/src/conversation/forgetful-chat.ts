import { Asking, type AskingParts } from './asking.ts';
import { forgetfulDatabase } from './database.ts';
import { Library } from './library.ts';
import { Outbox } from './outbox.ts';

interface ForgetfulChat {
  readonly library: Library;
  readonly asking: Asking;
  readonly outbox: Outbox;
}

/** Conversations that are kept in memory alone: nothing of them is in the browser's store or on the service, nor known to other tabs. */
export function createForgetfulChat(parts: Omit<AskingParts, 'library'>): ForgetfulChat {
  const library = new Library(forgetfulDatabase());
  const asking = new Asking({ ...parts, library });
  return { library, asking, outbox: new Outbox({ library, asking }) };
}
