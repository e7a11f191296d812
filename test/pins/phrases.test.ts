import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Banned patterns, each with its replacement. */
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
  [/\b(class|interface|type|new|extends|implements) Made\b/, 'Ownership'],
  [/\b(Consent)?Standing\b/, 'LimitStatus, ConsentStatus'],
  [/\buntold\b/i, 'UnsupportedFields'],
  [/\bBulletin\b/, 'NodeBroadcast'],
  [/\bAttendance\b/, 'AvailabilityMonitor'],
  [/\bTextsBeside\b|\blighten(s|ed)?\b/i, 'OffloadedTexts, offload'],
  [/surfaces\/msgapi\b/, 'surfaces/messages'],
  [/\bhears of\b|\bHears\b/, 'called when, called with'],
  [/\b(is|are|was|were)( not)? believed\b/, 'trusted'],
  [/\ba folder a protocol\b/, 'one folder per protocol'],
  [/\bone( (call|finish reason|function call|item|page|write))? a (call|choice|model|protocol|reply|request)\b/i, 'one for each'],
];

const root = join(import.meta.dirname, '../..');
const folders = ['src', 'web', 'docs'];
const isSkipped = /(^|\/)(node_modules|dist|fixtures)\//;
const isText = /\.(cjs|css|html|json|jsonc|md|ts|tsx)$/;

interface Line {
  /** Path from the repository root and line number, such as `src/a.ts:12`. */
  readonly at: string;
  readonly path: string;
  readonly text: string;
}

async function readLines(): Promise<readonly Line[]> {
  const entries = await Promise.all(
    folders.map((folder) => readdir(join(root, folder), { recursive: true, withFileTypes: true })),
  );
  const paths = entries.flat().map((entry) => relative(root, join(entry.parentPath, entry.name)));
  const read = paths.filter((path) => isText.test(path) && !isSkipped.test(path));
  const texts = await Promise.all(read.map(async (path) => [path, await readFile(join(root, path), 'utf8')] as const));
  return texts.flatMap(([path, text]) =>
    text.split('\n').map((line, index) => ({ at: `${path}:${index + 1}`, path, text: line })),
  );
}

const lines = await readLines();

describe('source and documentation text', () => {
  it.each(banned)('does not match %s (write instead: %s)', (phrase) => {
    expect(lines.filter(({ text }) => phrase.test(text)).map(({ at, text }) => `${at} ${text.trim().slice(0, 120)}`)).toEqual([]);
  });
});

describe('a reference to a documentation page', () => {
  const headings = Map.groupBy(
    lines.filter(({ path, text }) => path.startsWith('docs/') && /^#+ /.test(text)),
    ({ path }) => path,
  );
  const references = lines.flatMap(({ at, path, text }) =>
    path.startsWith('test/pins/')
      ? []
      : [...text.matchAll(/\((docs\/[\w-]+\.md)(?:, ([^)]+))?\)/g)].map((match) => ({ at, match })),
  );

  it('names an existing page and section', () => {
    const hasSection = (page: string, section: string | undefined): boolean =>
      headings.get(page)?.some(({ text }) => section === undefined || text.replace(/^#+ (\d+\. )?/, '') === section) ?? false;
    expect(references.length).toBeGreaterThan(20);
    expect(
      references
        .filter(({ match: [, page = '', section] }) => !hasSection(page, section))
        .map(({ at, match }) => `${at} ${match[0]}`),
    ).toEqual([]);
  });
});
