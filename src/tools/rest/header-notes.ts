import type { HttpReply } from '#base/http/read-reply.ts';

type Headers = HttpReply['headers'];

// Pattern bound: linear. A quotation mark ends the search of the one before, and the group after it may be empty.
const pages = /<([^<>]{1,2000})>((?:\s*;\s*[\w!#$&+.^`|~-]+\s*=\s*(?:"[^"]*"|[^\s",;]+))*)/g;
const relations = new Set(['next', 'prev', 'previous', 'first', 'last']);
/** How APIs tell how much there is and where one stands in it. */
const countings = [
  ...['x-total-count', 'x-total', 'x-total-pages', 'x-wp-total', 'x-wp-totalpages', 'x-page', 'x-per-page', 'x-next-page'],
  ...['x-prev-page', 'x-count', 'x-pagination', 'pagination-count', 'pagination-page', 'pagination-limit', 'content-range'],
];
const longest = 300;

/** What header fields of a reply tell whoever wants to go on: when to ask again, where further pages are, and how much there is. Undefined if they tell nothing. */
export function headerNotes(headers: Headers): string | undefined {
  const again = fieldOf(headers, 'retry-after');
  const notes = [
    ...(again === undefined ? [] : [`Retry-After: ${/^\d+$/.test(again) ? `${again} s` : again}`]),
    ...[...pagesIn(fieldOf(headers, 'link', 4_000) ?? '')].map(([relation, address]) => `${relation} page: ${address}`),
    ...countings.flatMap((name) => {
      const value = fieldOf(headers, name);
      return value === undefined ? [] : [`${name}: ${value}`];
    }),
  ];
  return notes.length === 0 ? undefined : `[The server says beside it: ${notes.join('; ')}.]`;
}

/** Of a `Link` field (RFC 8288). */
function* pagesIn(link: string): Iterable<readonly [relation: string, address: string]> {
  for (const [, address = '', parameters = ''] of link.matchAll(pages)) {
    // Pattern bound: linear. A quotation mark ends the search of the one before.
    const named = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s",;]+))/i.exec(parameters);
    for (const relation of (named?.[1] ?? named?.[2] ?? '').toLowerCase().split(/\s+/))
      if (relations.has(relation)) yield [relation, address];
  }
}

function fieldOf(headers: Headers, name: string, most = longest): string | undefined {
  const text = headers[name]?.trim();
  return text === undefined || text === '' ? undefined : text.slice(0, most);
}
