import { escapePattern } from '#base/text/escape-pattern.ts';
import type { Message } from '#contract/chat/message.ts';
import { type Tool, ToolError, type ToolResult } from '#domain/tools/tool.ts';
import type { FullResults } from './full-results.ts';
import { truncateText } from './truncate-text.ts';

const readResultName = 'read_result';

const parameters = {
  type: 'object',
  properties: {
    id: { type: 'string', description: 'The id in the truncated result, such as r_0123456789.' },
    offset: { type: 'integer', minimum: 0, description: 'Index of the first character to read. The default is 0.' },
    search: {
      type: 'string',
      minLength: 1,
      description: 'Words to search for instead of reading on. Returns the matches, each with its offset.',
    },
  },
  required: ['id'],
};

const marginChars = 160;
const maxExcerpts = 20;
const maxNoteBytes = 200;
const minPageBytes = 200;

/** Creates the tool that lets a model read or search results that it saw only in part. */
export function createReadResultTool(results: () => FullResults, messages: () => readonly Message[], maxBytes: number): Tool {
  return {
    name: readResultName,
    description: 'Reads on in a result of a tool that was cut or cleared, or searches it.',
    parameters,
    async run({ id, offset = 0, search }, { maxResultBytes: availableBytes = maxBytes }): Promise<ToolResult> {
      const text = await results().find(String(id), messages());
      if (text === undefined) throw new ToolError(`no result has the id ${JSON.stringify(id)}. Call its tool again`);
      const maxPageBytes = Math.max(minPageBytes, availableBytes - maxNoteBytes);
      const from = Number(offset);
      const content =
        typeof search === 'string' && search.trim() !== ''
          ? formatMatches(text, search, { from, maxBytes: maxPageBytes })
          : formatPage(text, from, maxPageBytes);
      return { text: content, attachments: [], failed: false };
    },
  };
}

function formatPage(text: string, from: number, maxBytes: number): string {
  const remainingText = text.slice(from);
  if (remainingText === '') return `[The result has ${text.length} characters, so it has no text at offset ${from}.]`;
  const page = truncateText(remainingText, maxBytes);
  const end = from + page.length;
  const hint = end < text.length ? `continue with offset ${end}` : 'this is the end';
  return `${page}\n\n[Characters ${from} to ${end} of ${text.length}, ${hint}.]`;
}

/** Maximum length of a search. Longer searches are truncated, because all words are tried at each position of the text. */
const maxSearchChars = 200;

/** Returns excerpts around the places that match. `search` must contain a word, because empty matches have no end. */
function formatMatches(
  text: string,
  search: string,
  { from, maxBytes }: { readonly from: number; readonly maxBytes: number },
): string {
  // Pattern bound: 200 characters of escaped text.
  const pattern = new RegExp(search.trim().slice(0, maxSearchChars).split(/\s+/).map(escapePattern).join('\\s+'), 'giu');
  const excerpts: string[] = [];
  let remainingBytes = maxBytes;
  let matchCount = 0;
  let shownEnd = -1;
  pattern.lastIndex = from;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    matchCount += 1;
    if (match.index < shownEnd || excerpts.length === maxExcerpts) continue;
    const start = Math.max(from, match.index - marginChars);
    const fullExcerpt = `Offset ${start}: …${text.slice(start, match.index + match[0].length + marginChars).toWellFormed()}…`;
    const excerpt = excerpts.length === 0 ? truncateText(fullExcerpt, maxBytes) : fullExcerpt;
    remainingBytes -= Buffer.byteLength(excerpt);
    if (remainingBytes < 0) continue;
    shownEnd = match.index + match[0].length + marginChars;
    excerpts.push(excerpt);
  }
  if (matchCount === 0) return `[Nothing in the ${text.length} characters of the result matches ${JSON.stringify(search)}.]`;
  return `${excerpts.join('\n\n')}\n\n[Found ${matchCount} times in ${text.length} characters, shown in ${excerpts.length} places.]`;
}
