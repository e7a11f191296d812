import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkCommand } from '#app/commands/check-command.ts';
import { importCommand } from '#app/commands/import/import-command.ts';
import type { ImportFlags } from '#app/commands/import/import-flags.ts';
import { loadConfiguration } from '#configuration/load.ts';
import { makeFolder } from '#test/check-files.ts';

const fixtures = join(import.meta.dirname, '../fixtures/import');

type From = ImportFlags['from'];

export interface ImportOptions {
  readonly from: From;
  /** File contents by name. */
  readonly files: Readonly<Record<string, string>>;
  readonly settings?: string;
  readonly isStrict?: boolean;
}

export interface ImportOutput {
  readonly exitCode: number;
  /** Output on stdout. */
  readonly text: string;
  readonly value: Record<string, never>;
  /** Lines on stderr, without the folder of the files. */
  readonly lines: readonly string[];
}

/** Reads a fixture and replaces the addresses of test servers in it. */
export async function fixture(name: string, addresses: Readonly<Record<string, string>> = {}): Promise<string> {
  const text = await readFile(join(fixtures, name), 'utf8');
  const named = { ADAPTER: 'http://adapter.example:5000', SELF: 'http://self.example:8000', ...addresses };
  return Object.entries(named).reduce((rest, [word, url]) => rest.replaceAll(`${word}/`, `${url}/`), text);
}

/** Runs `parley import` on files in a temporary folder. */
export async function runImport({ from, files, settings, isStrict = false }: ImportOptions): Promise<ImportOutput> {
  await using folder = await makeFolder();
  const paths: string[] = [];
  for (const [name, text] of Object.entries(files)) paths.push(await folder.write(name, text));
  const settingsFile = settings === undefined ? undefined : await folder.write('settings.json', settings);
  const { exitCode, text, lines } = await importCommand({ from, files: paths, settings: settingsFile, isStrict });
  const value = text === '' ? {} : JSON.parse(text);
  return { exitCode, text, value, lines: lines.map((line) => line.replaceAll(`${folder.path}/`, '')) };
}

/** Returns a value for each variable in a configuration. Its position decides between a URL, a version, and a word. */
function createEnvironment(text: string): Readonly<Record<string, string>> {
  const named = (pattern: RegExp, toValue: (name: string) => string) =>
    [...text.matchAll(pattern)].map(([, name = '']): [string, string] => [name, toValue(name)]);
  return Object.fromEntries([
    ...named(/\$\{(\w+)\}/g, (name) => `value-of-${name.toLowerCase().replaceAll('_', '-')}`),
    ...named(/"(?:endpoint|url|issuer|jwksUrl)": "\$\{(\w+)\}/g, () => 'https://base.example'),
    ...named(/"apiVersion": "\$\{(\w+)\}/g, () => '2025-01-01'),
  ]);
}

/** Returns the result of `parley check` for an imported configuration. */
export async function checkImported(text: string) {
  await using folder = await makeFolder();
  const file = await folder.write('parley.json', text);
  return await checkCommand([file], createEnvironment(text));
}

/** Returns the imported configuration as the service loads it. */
export async function loadImported(text: string): Promise<object> {
  await using folder = await makeFolder();
  const file = await folder.write('parley.json', text);
  const loaded = await loadConfiguration([file], createEnvironment(text));
  if ('errors' in loaded) throw new Error(JSON.stringify(loaded.errors));
  return loaded.configuration;
}
