import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** The page that has a snippet of each client and the table. */
const file = fileURLToPath(new URL('../../../docs/clients.md', import.meta.url));
const begin = '<!-- Written by npm run test:clients -- --write -->\n';
const end = '\n<!-- end -->';

export interface Snippet {
  /** The heading that it stands below. */
  readonly client: string;
  /** As its fence says it. */
  readonly language: string;
  readonly code: string;
}

/** Every snippet of the page, in its order. */
export async function readSnippets(): Promise<Snippet[]> {
  const text = await readFile(file, 'utf8');
  return text
    .split(/^### /m)
    .slice(1)
    .flatMap((section) => {
      const [client = ''] = section.split('\n', 1);
      const [, language = '', code = ''] = /^```(\w+)\n(.*?)^```$/ms.exec(section) ?? [];
      return code === '' ? [] : [{ client, language, code }];
    });
}

/** Whether the page has this table; with `isWriting` it has afterwards. */
export async function holdTable(table: string, isWriting: boolean): Promise<boolean> {
  const text = await readFile(file, 'utf8');
  const [before, rest] = text.split(begin, 2);
  const after = rest?.split(end, 2)[1];
  if (before === undefined || after === undefined) throw new Error(`${file} has no place for the table`);
  const next = `${before}${begin}${table}${end}${after}`;
  if (isWriting) await writeFile(file, next);
  return isWriting || next === text;
}
