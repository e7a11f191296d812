import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Phrases that must not come back, each with what is written in its place. */
const banned: readonly (readonly [RegExp, string])[] = [
  [/\b(contract|spec)\b,? (\d|")|§ ?\d/i, 'docs/wire.md and its section, or an RFC'],
  [/\bDoor\b/, 'RequestHandler'],
  [/\bVisit\b/, 'RequestContext'],
  [/\bSpeech\b/, 'ErrorDialect'],
  [/\bShortWay\b|\bshort way\b/, 'FastPath, fast path'],
  [/\bOpenCalls\b/, 'InFlightCalls'],
  [/\b(class|interface|type|new|extends|implements) Directory\b/, 'ConfigSnapshot'],
  [/\b(class|interface|type|new|extends|implements) Balance\b/, 'LoadBalancer'],
  [/\b(class|interface|type|new|extends|implements) Watched\b/, 'InstrumentedAttempt'],
  [/\b(class|interface|type|new|extends|implements) Reach\b/, 'UpstreamCapabilities'],
  [/\b(class|interface|type|new|extends|implements) Made\b/, 'Ownership, or what was made'],
  [/\b(Consent)?Standing\b/, 'LimitStatus, ConsentStatus'],
  [/\buntold\b/i, 'UnsupportedFields, or what was not sent'],
  [/\bBulletin\b/, 'NodeBroadcast'],
  [/\bAttendance\b/, 'AvailabilityMonitor'],
  [/\bTextsBeside\b|\blighten(s|ed)?\b/i, 'OffloadedTexts, offload'],
  [/surfaces\/msgapi\b/, 'surfaces/messages'],
  [/\bhears of\b|\bHears\b/, 'called when, called with'],
  [/\b(is|are|was|were)( not)? believed\b/, 'trusted; nothing an upstream sends is trusted'],
  [/\ba folder a protocol\b/, 'one folder per protocol'],
  [/\bone( (call|finish reason|function call|item|page|write))? a (call|choice|model|protocol|reply|request)\b/i, 'one for each'],
];

const root = join(import.meta.dirname, '../..');
const rooms = ['src', 'web', 'docs'];
const notRead = /(^|\/)(node_modules|dist|fixtures)\//;
const isText = /\.(cjs|css|html|json|jsonc|md|ts|tsx)$/;

interface Line {
  /** Path from the root of the repository and number, as `src/a.ts:12`. */
  readonly at: string;
  readonly path: string;
  readonly text: string;
}

async function readLines(): Promise<readonly Line[]> {
  const found = await Promise.all(rooms.map((room) => readdir(join(root, room), { recursive: true, withFileTypes: true })));
  const paths = found.flat().map((entry) => relative(root, join(entry.parentPath, entry.name)));
  const read = paths.filter((path) => isText.test(path) && !notRead.test(path));
  const texts = await Promise.all(read.map(async (path) => [path, await readFile(join(root, path), 'utf8')] as const));
  return texts.flatMap(([path, text]) => text.split('\n').map((line, at) => ({ at: `${path}:${at + 1}`, path, text: line })));
}

const lines = await readLines();

describe('phrases that must not come back', () => {
  it.each(banned)('%s, but: %s', (phrase) => {
    expect(lines.filter(({ text }) => phrase.test(text)).map(({ at, text }) => `${at} ${text.trim().slice(0, 120)}`)).toEqual([]);
  });
});

describe('a citation of a page', () => {
  const headings = Map.groupBy(
    lines.filter(({ path, text }) => path.startsWith('docs/') && /^#+ /.test(text)),
    ({ path }) => path,
  );
  const cited = lines.flatMap(({ at, path, text }) =>
    path.startsWith('test/pins/')
      ? []
      : [...text.matchAll(/\((docs\/[\w-]+\.md)(?:, ([^)]+))?\)/g)].map((match) => ({ at, match })),
  );

  it('names a page and a section that are there', () => {
    const isThere = (page: string, section: string | undefined): boolean =>
      headings.get(page)?.some(({ text }) => section === undefined || text.replace(/^#+ (\d+\. )?/, '') === section) ?? false;
    expect(cited.length).toBeGreaterThan(20);
    expect(
      cited.filter(({ match: [, page = '', section] }) => !isThere(page, section)).map(({ at, match }) => `${at} ${match[0]}`),
    ).toEqual([]);
  });
});
