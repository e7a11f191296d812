import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { checkCommand } from '#app/commands/check-command.ts';
import { parseText } from '#configuration/parse-text.ts';
import type { Environment } from '#configuration/substitute.ts';

/** A folder of its own that goes with the test. */
export interface Folder extends AsyncDisposable {
  readonly path: string;
  /** Writes a file and gives its whole path. */
  write(name: string, text: string): Promise<string>;
}

export async function makeFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'parley-configuration-'));
  return {
    path,
    write: async (name, text) => {
      const file = join(path, name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
      return file;
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

/** The lines `parley check` prints of files by name, without the folder they stand in. */
export async function checkFiles(
  files: Readonly<Record<string, string>>,
  environment: Environment = {},
): Promise<readonly string[]> {
  await using folder = await makeFolder();
  const paths: string[] = [];
  for (const [name, text] of Object.entries(files)) paths.push(await folder.write(name, text));
  const { lines } = await checkCommand(paths, environment);
  return lines.map((line) => line.replaceAll(`${folder.path}/`, ''));
}

/** Parses a configuration in the format that the name of its file has. */
export function parseConfiguration(name: string, text: string): ReturnType<typeof parseText> {
  return parseText(name, text);
}

/** Runs `parley check` for files by path. */
export function checkPaths(paths: readonly string[], environment: Environment = {}): ReturnType<typeof checkCommand> {
  return checkCommand(paths, environment);
}

/** The same of one value, written as `parley.json`. */
export function checkValue(value: unknown, environment: Environment = {}): Promise<readonly string[]> {
  return checkFiles({ 'parley.json': JSON.stringify(value) }, environment);
}

/** The exit code and the lines of `parley check --allow-missing-env` for a value, without any variable. */
export async function checkWithoutEnvironment(value: object): Promise<readonly (string | number)[]> {
  await using folder = await makeFolder();
  const file = await folder.write('parley.json', JSON.stringify(value));
  const { lines, exitCode } = await checkCommand([file], {}, { allowsMissingEnvironment: true });
  return [exitCode, ...lines.map((line) => line.replaceAll(`${folder.path}/`, ''))];
}
