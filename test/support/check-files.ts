import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { checkCommand } from '#app/commands/check-command.ts';
import { parseText } from '#configuration/parse-text.ts';
import type { Environment } from '#configuration/substitute.ts';

/** A temporary folder that is deleted after the test. */
export interface Folder extends AsyncDisposable {
  readonly path: string;
  /** Writes a file and returns its full path. */
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

/** Runs `parley check` for files by name. Returns the printed lines without the path of their folder. */
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

/** Parses a configuration in the format of its file extension. */
export function parseConfiguration(name: string, text: string): ReturnType<typeof parseText> {
  return parseText(name, text);
}

/** Runs `parley check` for files by path. */
export function checkPaths(paths: readonly string[], environment: Environment = {}): ReturnType<typeof checkCommand> {
  return checkCommand(paths, environment);
}

/** Runs `parley check` for a value that is written to `parley.json`. */
export function checkValue(value: unknown, environment: Environment = {}): Promise<readonly string[]> {
  return checkFiles({ 'parley.json': JSON.stringify(value) }, environment);
}

/**
 * Runs `parley check --allow-missing-env` for a value without environment variables. Returns the exit code and the printed lines.
 */
export async function checkWithoutEnvironment(value: object): Promise<readonly (string | number)[]> {
  await using folder = await makeFolder();
  const file = await folder.write('parley.json', JSON.stringify(value));
  const { lines, exitCode } = await checkCommand([file], {}, { allowsMissingEnvironment: true });
  return [exitCode, ...lines.map((line) => line.replaceAll(`${folder.path}/`, ''))];
}
