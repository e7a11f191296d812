import { toMessagesError } from '#contract/messages/error-body.ts';
import { compatSpeech, type Speech } from '../http/speech.ts';
import { toOwnLimits } from './reply-headers.ts';

/** The canonical prefix: `Api-Key` only. */
const canonicalSpeech: Speech = {
  takesXApiKey: false,
  idHeaders: ['x-request-id', 'request-id'],
  toErrorBody: toMessagesError,
  toOwnHeaders: toOwnLimits,
};
const aliasSpeech: Speech = { ...canonicalSpeech, takesXApiKey: true };

export const canonicalPrefix = 'msgapi';

/** How callers below a prefix of this surface are spoken to: stock clients, which send `x-api-key`, use the aliases. */
export function speechOf(prefix: string): Speech {
  return prefix === canonicalPrefix ? canonicalSpeech : aliasSpeech;
}

/** How whoever asks for a path is spoken to, where these are the aliases of this surface. */
export function speechAt(aliases: readonly string[]): (path: string) => Speech {
  return (path) => {
    const prefix = [canonicalPrefix, ...aliases].find((each) => path.startsWith(`/${each}/`));
    return prefix === undefined ? compatSpeech : speechOf(prefix);
  };
}
