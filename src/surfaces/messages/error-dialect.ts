import { toMessagesError } from '#contract/messages/dialect.ts';
import type { ErrorDialect } from '../http/error-dialect.ts';
import { toOwnLimits } from './reply-headers.ts';

/** Dialect of the canonical prefix, which accepts only `Api-Key`. */
const canonicalErrorDialect: ErrorDialect = {
  acceptsXApiKey: false,
  idHeaders: ['x-request-id', 'request-id'],
  toErrorBody: toMessagesError,
  toDialectHeaders: toOwnLimits,
};
const aliasErrorDialect: ErrorDialect = { ...canonicalErrorDialect, acceptsXApiKey: true };

export const canonicalPrefix = 'msgapi';

/** Returns the error dialect of a prefix. Aliases also accept `x-api-key`, because unmodified Anthropic clients send it. */
export function getErrorDialect(prefix: string): ErrorDialect {
  return prefix === canonicalPrefix ? canonicalErrorDialect : aliasErrorDialect;
}

/** Returns a function that selects the error dialect of a path. `elsewhere` covers paths outside this surface. */
export function errorDialectAt(
  aliases: readonly string[],
  elsewhere: (path: string) => ErrorDialect,
): (path: string) => ErrorDialect {
  return (path) => {
    const prefix = [canonicalPrefix, ...aliases].find((candidate) => path.startsWith(`/${candidate}/`));
    return prefix === undefined ? elsewhere(path) : getErrorDialect(prefix);
  };
}
