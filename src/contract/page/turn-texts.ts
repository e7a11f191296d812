import { filterObjects, isJsonObject, toObject, toText } from '#base/json/json.ts';

/** Parts of a stored turn with texts for searches. Other versions of the page may store other forms of attachments. */
interface TurnParts {
  readonly text?: unknown;
  readonly attachments?: unknown;
  /** Content of a reply, with its attachments. */
  readonly custom?: unknown;
  readonly control?: unknown;
}

const maxTitleLength = 80;
/** Maximum number of characters, with spaces, from which a title is created. A text can have many megabytes. */
const maxTitleSource = 1_000;
/** Returns the initial title of a chat: the start of its first question, or the name of its form or first file. */
export function toChatTitle({ text, attachments, control }: TurnParts): string {
  const start = toText(text).trimStart().slice(0, maxTitleSource).trimEnd();
  const title = start.replace(/\s+/g, ' ') || toText(toObject(control).label) || listTitles(attachments)[0] || '';
  return title.length > maxTitleLength ? `${title.slice(0, maxTitleLength - 1)}…` : title;
}

/** Returns the text of a turn, and the names of its attached files. */
export function listTurnTexts({ text, attachments, custom }: TurnParts): readonly string[] {
  return [String(text), ...listTitles(attachments), ...(isJsonObject(custom) ? listTitles(custom.attachments) : [])];
}

function listTitles(attachments: unknown): readonly string[] {
  const items = filterObjects(attachments);
  return items.flatMap(({ title }) => (typeof title === 'string' ? [title] : []));
}
