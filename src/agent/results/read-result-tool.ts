import { escapePattern } from '#base/text/escape-pattern.ts';
import type { Message } from '#contract/chat/message.ts';
import { type Tool, ToolFault, type ToolResult } from '#domain/tools/tool.ts';
import { cutText } from './cut-text.ts';
import type { KeptResults } from './kept-results.ts';

const readResultName = 'read_result';

const parameters = {
  type: 'object',
  properties: {
    id: { type: 'string', description: 'The id that was given with the result, such as r_0123456789.' },
    offset: { type: 'integer', minimum: 0, description: 'The character to read from; from the beginning if left out.' },
    search: {
      type: 'string',
      minLength: 1,
      description: 'Words to look for in place of reading on: the places that have them are given, each with its offset.',
    },
  },
  required: ['id'],
};

const shownAround = 160;
const mostPlaces = 20;
const noteBytes = 200;
const leastRoom = 200;

/** Lets a model read on, or search, in results of which it was shown a part. */
export function createReadResultTool(results: () => KeptResults, messages: () => readonly Message[], maxBytes: number): Tool {
  return {
    name: readResultName,
    description: 'Reads on in a result of a tool that was cut or cleared, or searches it.',
    parameters,
    async run({ id, offset = 0, search }, { roomBytes = maxBytes }): Promise<ToolResult> {
      const text = await results().find(String(id), messages());
      if (text === undefined) throw new ToolFault(`no result with the id ${JSON.stringify(id)} is kept; call its own tool again`);
      const room = Math.max(leastRoom, roomBytes - noteBytes);
      const from = Number(offset);
      const told = typeof search === 'string' ? toPlaces(text, search, { from, room }) : toPage(text, from, room);
      return { text: told, attachments: [], failed: false };
    },
  };
}

function toPage(text: string, from: number, room: number): string {
  const rest = text.slice(from);
  if (rest === '') return `[The result has ${text.length} characters; there is nothing at offset ${from}.]`;
  const page = cutText(rest, room);
  const end = from + page.length;
  const more = end < text.length ? `go on with offset ${end}` : 'this is its end';
  return `${page}\n\n[Characters ${from} to ${end} of ${text.length}; ${more}.]`;
}

/** Every place in the text is tried with all words of the search. A longer search is cut. */
const maxSearchChars = 200;

function toPlaces(text: string, search: string, { from, room }: { readonly from: number; readonly room: number }): string {
  // Pattern bound: 200 characters of escaped text.
  const pattern = new RegExp(search.trim().slice(0, maxSearchChars).split(/\s+/).map(escapePattern).join('\\s+'), 'giu');
  const places: string[] = [];
  let left = room;
  let found = 0;
  let shownTo = -1;
  pattern.lastIndex = from;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    found += 1;
    if (match[0] === '') pattern.lastIndex += 1;
    if (match.index < shownTo || places.length === mostPlaces) continue;
    const start = Math.max(from, match.index - shownAround);
    const place = `Offset ${start}: …${text.slice(start, match.index + match[0].length + shownAround).toWellFormed()}…`;
    left -= Buffer.byteLength(place);
    if (left < 0) continue;
    shownTo = match.index + match[0].length + shownAround;
    places.push(place);
  }
  if (found === 0) return `[Nothing in the ${text.length} characters of the result matches ${JSON.stringify(search)}.]`;
  return `${places.join('\n\n')}\n\n[Found ${found} times in ${text.length} characters, shown in ${places.length} places.]`;
}
