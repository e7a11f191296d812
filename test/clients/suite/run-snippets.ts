import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSnippets, type Snippet } from './page.ts';
import type { Program } from './programs.ts';
import { runCommand } from './run-command.ts';
import type { Runner, Runners } from './runtimes.ts';
import type { World } from './world.ts';

/** The address that snippets show; they are run with that of the service under test. */
const shownAddress = 'http://127.0.0.1:8080';
/** Told by every snippet that works: the greeting of the upstream, or its forecast. */
const told = /from the mock\.|Paris/;
const longestMs = 60_000;

/** Below the packages of this repository, so that snippets in JavaScript find them. */
const folder = fileURLToPath(new URL('../../../node_modules/.cache/parley-clients/', import.meta.url));
const names: Readonly<Record<string, string>> = { python: 'snippet.py', go: 'main.go', java: 'Snippet.java', js: 'snippet.mjs' };

/** Runs each snippet of the page as it stands there; gives what is wrong, a line each. */
export async function runSnippets(programs: readonly Program[], runners: Runners, world: World): Promise<string[]> {
  const snippets = await readSnippets();
  const runtimes = new Map(
    programs.flatMap(({ clients, runtime }) => Object.keys(clients).map((client) => [client, runtime] as const)),
  );
  const missing = [...runtimes.keys()].filter((client) => !snippets.some((snippet) => snippet.client === client));
  const waiting = [...snippets.entries()];
  const faults = missing.map((client) => `docs/clients.md has no snippet of ${client}`);
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [at, snippet] = next;
      const runtime = runtimes.get(snippet.client);
      const runner = runtime === undefined ? node : runners[runtime];
      const fault = await runOne(snippet, runner, { world, into: join(folder, String(at)) });
      if (fault !== undefined) faults.push(`the snippet of ${snippet.client}: ${fault}`);
    }
  };
  await Promise.all([work(), work()]);
  await rm(folder, { recursive: true, force: true });
  return faults;
}

const node: Pick<Runner, 'toSnippetCommand' | 'folder'> = {
  toSnippetCommand: (file) => [process.execPath, file],
  folder: import.meta.dirname,
};

async function runOne(
  { language, code }: Snippet,
  runner: Pick<Runner, 'toSnippetCommand' | 'folder'>,
  { world, into }: { readonly world: World; readonly into: string },
): Promise<string | undefined> {
  const name = names[language];
  if (name === undefined) return `nothing runs ${language}`;
  if (!code.includes(shownAddress)) return `${shownAddress} is not in it`;
  await mkdir(into, { recursive: true });
  const file = join(into, name);
  await writeFile(file, code.replaceAll(shownAddress, world.url));
  const options = { folder: runner.folder, environment: world.environment, timeoutMs: longestMs, isBare: true };
  const { code: status, stdout, stderr } = await runCommand(runner.toSnippetCommand(file), options);
  return status === 0 && told.test(stdout) ? undefined : `it ended with ${status}: ${stdout}${stderr.slice(-600)}`;
}
