import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const pages = ['.', 'docs', 'docs/decisions', 'examples', 'bench', 'web'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md')
    .map((name) => join(folder, name)),
);

it.each(pages)('every link in %s targets an existing file and heading', (page) => {
  const text = withoutCode(readFileSync(join(root, page), 'utf8'));
  const targets = [...text.matchAll(/\]\((?!https?:|mailto:|\.\.\/\.\.\/security\/)([^)\s]+)\)/g)].map(
    ([, target = '']) => target,
  );
  expect(targets.filter((target) => !exists(page, target))).toEqual([]);
});

function exists(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : relative(root, join(root, dirname(page), path));
  try {
    if (anchor === undefined) return readdirSync(join(root, dirname(file))).includes(file.split('/').at(-1) ?? '');
    return toAnchors(readFileSync(join(root, file), 'utf8')).has(anchor);
  } catch {
    return false;
  }
}

/** Returns the anchors that GitHub gives to the headings of a page. */
function toAnchors(text: string): ReadonlySet<string> {
  const counts = new Map<string, number>();
  const anchors = [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
  return new Set([...anchors, ...[...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, name = '']) => name)]);
}

function withoutCode(text: string): string {
  return text.replaceAll(/^(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1$/gm, '');
}
