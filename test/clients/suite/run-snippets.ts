import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { librechatLanguage } from './check-librechat.ts';
import { responsesLanguages } from './check-responses.ts';
import { readSnippets, type Snippet } from './page.ts';
import type { Program } from './programs.ts';
import { type Ran, runCommand } from './run-command.ts';
import type { Runner } from './runtimes.ts';
import type { Stage } from './stage.ts';

/** Address in the snippets, which is replaced by that of the tested service. */
const shownAddress = 'http://127.0.0.1:8080';
/** Output of each snippet that works: the greeting of the upstream or its forecast. */
const expectedOutput = /from the mock\.|Paris/;
const longestMs = 120_000;

/** Inside the repository, so that JavaScript snippets resolve its packages. */
const folder = fileURLToPath(new URL('../../../node_modules/.cache/parley-clients/', import.meta.url));
const names: Readonly<Record<string, string>> = { python: 'snippet.py', go: 'main.go', java: 'Snippet.java', js: 'snippet.mjs' };

type SnippetRunner = Pick<Runner, 'toSnippetCommand' | 'toSnippetsCommand' | 'folder'>;

const node: SnippetRunner = {
  toSnippetCommand: (file) => [process.execPath, file],
  folder: import.meta.dirname,
};

/** A snippet in a file. */
interface WrittenSnippet {
  readonly client: string;
  readonly file: string;
  readonly runner: SnippetRunner;
}

/** Runs each snippet of the page as published. Returns one line for each failure. */
export async function runSnippets(programs: readonly Program[], stage: Stage): Promise<string[]> {
  const elsewhere = [...responsesLanguages, librechatLanguage];
  const snippets = (await readSnippets()).filter(({ language }) => !elsewhere.includes(language));
  const runtimes = new Map(
    programs.flatMap(({ clients, runtime }) => Object.keys(clients).map((client) => [client, runtime] as const)),
  );
  const missing = [...runtimes.keys()].filter((client) => !snippets.some((snippet) => snippet.client === client));
  const errors = missing.map((client) => `docs/clients.md has no snippet of ${client}`);
  const written: WrittenSnippet[] = [];
  for (const [index, snippet] of snippets.entries()) {
    const runtime = runtimes.get(snippet.client);
    const runner = runtime === undefined ? node : stage.runners[runtime];
    const file = await write(snippet, { url: stage.world.url, into: join(folder, String(index)) });
    if (file === undefined)
      errors.push(`the snippet of ${snippet.client} does not contain ${shownAddress}, or no command runs it`);
    else written.push({ client: snippet.client, file, runner });
  }
  errors.push(...(await runAll(written, stage)));
  await rm(folder, { recursive: true, force: true });
  return errors;
}

/** Writes the snippet to a file with the address of the tested service. */
async function write(
  { language, code }: Snippet,
  { url, into }: { readonly url: string; readonly into: string },
): Promise<string | undefined> {
  const name = names[language];
  if (name === undefined || !code.includes(shownAddress)) return undefined;
  await mkdir(into, { recursive: true });
  await writeFile(join(into, name), code.replaceAll(shownAddress, url));
  return join(into, name);
}

/** Runs snippets together if their runtime supports it, and the rest one by one. */
async function runAll(written: readonly WrittenSnippet[], stage: Stage): Promise<string[]> {
  const byRunner = [...Map.groupBy(written, ({ runner }) => runner)];
  const errors = byRunner.map(([runner, group]) => {
    if (runner.toSnippetsCommand !== undefined) return runTogether(runner, group, stage);
    return Promise.all(group.map((one) => runOne(one, stage))).then((found) => found.flat());
  });
  return (await Promise.all(errors)).flat();
}

async function runOne({ client, file, runner }: WrittenSnippet, stage: Stage): Promise<string[]> {
  const { code, stdout, stderr } = await run(
    `the snippet of ${client}`,
    { command: runner.toSnippetCommand(file), runner },
    stage,
  );
  return code === 0 && expectedOutput.test(stdout)
    ? []
    : [`the snippet of ${client} ended with ${code}: ${stdout}${stderr.slice(-600)}`];
}

async function runTogether(runner: SnippetRunner, written: readonly WrittenSnippet[], stage: Stage): Promise<string[]> {
  const command = runner.toSnippetsCommand?.(written.map(({ file }) => file)) ?? [];
  const { code, stdout, stderr } = await run(`the snippets with ${written[0]?.client}`, { command, runner }, stage);
  const results = new Map<string, string>();
  for (const line of stdout.split('\n')) {
    if (!line.startsWith('{')) continue;
    const { file, ok, text } = JSON.parse(line) as { readonly file: string; readonly ok: boolean; readonly text: string };
    results.set(file, ok && expectedOutput.test(text) ? '' : text);
  }
  return written.flatMap(({ client, file }) => {
    const why = results.get(file) ?? `it did not run, the program ended with ${code}: ${stderr.slice(-600)}`;
    return why === '' ? [] : [`the snippet of ${client}: ${why.slice(-600)}`];
  });
}

function run(
  name: string,
  { command, runner }: { readonly command: readonly string[]; readonly runner: SnippetRunner },
  { world, turns }: Stage,
): Promise<Ran> {
  const options = { folder: runner.folder, environment: world.environment, timeoutMs: longestMs, isBare: true };
  return turns.take(name, () => runCommand(command, options));
}
