import { createRequestError } from './errors/request-error.ts';

/** Maximum number of tags of one request, and of one project. */
export const maxTags = 16;
/** Maximum number of characters of the name and of the value of a tag. */
export const maxTagChars = 64;
/** Maximum number of tags of one call, including those of its project and of the call that started it. */
const maxMergedTags = 2 * maxTags;

export const tagsHeader = 'x-parley-tags';

/** Tags of a call, by name. */
export type Tags = Readonly<Record<string, string>>;

/** Returns whether a text can be the name of a tag: letters, digits, and `_.:/@-`. `__proto__` is excluded. */
export function isTagName(text: string): boolean {
  return text.length <= maxTagChars && /^[\w.:/@-]+$/.test(text) && text !== '__proto__';
}

/** Returns whether a text can be the value of a tag: printable ASCII without `,` and without spaces at the ends. */
export function isTagValue(text: string): boolean {
  return text.length <= maxTagChars && /^[ -+\--~]*$/.test(text) && text === text.trim();
}

/** Parses a header such as `team=search, env=prod`. Throws `invalid_request` if it is malformed or exceeds a bound. */
function parseTags(header: string): Tags {
  const tags: Record<string, string> = Object.create(null);
  const items = header.split(',', maxTags + 1);
  if (items.length > maxTags) throw createRequestError(tagsHeader, `can have at most ${maxTags} tags`);
  for (const item of items) {
    const [name = '', ...values] = item.split('=');
    const [key, value] = [name.trim(), values.join('=').trim()];
    if (values.length === 0 || !isTagName(key) || !isTagValue(value)) {
      const form = `names of 1 to ${maxTagChars} letters, digits, and _.:/@-, and values of at most ${maxTagChars} printable ASCII characters`;
      throw createRequestError(tagsHeader, `must be a list such as team=search,env=prod, with ${form}`);
    }
    if (key in tags) throw createRequestError(tagsHeader, `has the tag ${key} twice`);
    tags[key] = value;
  }
  return tags;
}

/** Tags of a call by their origin. */
interface TagSources {
  /** Header of the request. */
  readonly header: string | undefined;
  /** Tags of the project of the caller. */
  readonly project: Tags | undefined;
  /** Tags of the call that started this one. They cannot be replaced. */
  readonly inherited: Tags | undefined;
}

/** Returns the tags of a call, or undefined if it has none. Throws `invalid_request`. */
export function mergeTags({ header, project, inherited }: TagSources): Tags | undefined {
  if (header === undefined || header === '') return inherited ?? project;
  const tags = { ...project, ...parseTags(header), ...inherited };
  if (Object.keys(tags).length > maxMergedTags)
    throw createRequestError(
      tagsHeader,
      `can have at most ${maxMergedTags} tags, including the tags of the project and the call chain`,
    );
  return tags;
}
