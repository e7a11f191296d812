import { filterObjects, isJsonObject } from '#base/json/json.ts';

/** Parts of a stored turn with texts for searches. Other versions of the page may store other forms of attachments. */
interface TurnParts {
  readonly text?: unknown;
  readonly attachments?: unknown;
  /** Content of a reply, with its attachments. */
  readonly custom?: unknown;
}

/** Returns the text of a turn, and the names of its attached files. */
export function listTurnTexts({ text, attachments, custom }: TurnParts): readonly string[] {
  return [String(text), ...listTitles(attachments), ...(isJsonObject(custom) ? listTitles(custom.attachments) : [])];
}

function listTitles(attachments: unknown): readonly string[] {
  const items = filterObjects(attachments);
  return items.flatMap(({ title }) => (typeof title === 'string' ? [title] : []));
}
