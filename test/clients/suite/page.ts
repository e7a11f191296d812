import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** The documentation page with a snippet for each client. */
const file = fileURLToPath(new URL('../../../docs/clients.md', import.meta.url));
/** The page with the table of results. */
const tableFile = fileURLToPath(new URL('../../../docs/client-results.md', import.meta.url));
const begin = '<!-- Written by npm run test:clients -- --write -->\n';
const end = '\n<!-- end -->';

export interface Snippet {
  /** Heading of the snippet. */
  readonly client: string;
  /** Language of the code fence. */
  readonly language: string;
  readonly code: string;
}

/** Returns the snippets of the page in order. */
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

/** Returns whether the page has this table. With `isWriting`, writes the table to the page first. */
export async function checkTable(table: string, isWriting: boolean): Promise<boolean> {
  const text = await readFile(tableFile, 'utf8');
  const [before, rest] = text.split(begin, 2);
  const after = rest?.split(end, 2)[1];
  if (before === undefined || after === undefined) throw new Error(`${tableFile} has no place for the table`);
  const next = `${before}${begin}${table}${end}${after}`;
  if (isWriting) await writeFile(tableFile, next);
  return isWriting || next === text;
}
