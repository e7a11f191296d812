import { toMessagesError } from '#contract/messages/dialect.ts';
import type { ErrorDialect } from '../http/error-dialect.ts';
import { toOwnLimits } from './reply-headers.ts';

/** The canonical prefix: `Api-Key` only. */
const canonicalErrorDialect: ErrorDialect = {
  takesXApiKey: false,
  idHeaders: ['x-request-id', 'request-id'],
  toErrorBody: toMessagesError,
  toOwnHeaders: toOwnLimits,
};
const aliasErrorDialect: ErrorDialect = { ...canonicalErrorDialect, takesXApiKey: true };

export const canonicalPrefix = 'msgapi';

/** How callers below a prefix of this surface are spoken to: stock clients, which send `x-api-key`, use the aliases. */
export function getErrorDialect(prefix: string): ErrorDialect {
  return prefix === canonicalPrefix ? canonicalErrorDialect : aliasErrorDialect;
}

/** How whoever asks for a path is spoken to, if these are the aliases of this surface; `elsewhere` tells of other paths. */
export function errorDialectAt(
  aliases: readonly string[],
  elsewhere: (path: string) => ErrorDialect,
): (path: string) => ErrorDialect {
  return (path) => {
    const prefix = [canonicalPrefix, ...aliases].find((candidate) => path.startsWith(`/${candidate}/`));
    return prefix === undefined ? elsewhere(path) : getErrorDialect(prefix);
  };
}
