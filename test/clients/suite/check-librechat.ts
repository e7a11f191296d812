import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installNpmPackages } from './install.ts';
import { readSnippets } from './page.ts';
import { responsesDeployments, startResponsesWorld } from './responses-world.ts';
import { runCommand } from './run-command.ts';

const programFolder = join(import.meta.dirname, '../node/librechat');
const shownAddress = 'http://127.0.0.1:8080';
const longestMs = 180_000;
/** Language of the page's recipe. */
export const librechatLanguage = 'yaml';

/**
 * Runs the model client of LibreChat with the endpoints of the page and every kind of deployment. Returns one line for each
 * failure.
 */
export async function checkLibrechat(): Promise<string[]> {
  const recipe = (await readSnippets()).find(({ language }) => language === librechatLanguage);
  if (recipe === undefined) return ['docs/clients.md has no recipe of LibreChat'];
  const node = await installNpmPackages('librechat', programFolder);
  const folder = await mkdtemp(join(tmpdir(), 'parley-librechat-'));
  try {
    await using world = await startResponsesWorld();
    await symlink(join(node, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'client.mjs'), await readFile(join(programFolder, 'client.mjs')));
    await writeFile(join(folder, 'librechat.yaml'), recipe.code.replaceAll(shownAddress, world.url));
    const command = [process.execPath, 'client.mjs', 'librechat.yaml', ...responsesDeployments];
    const options = { folder, environment: world.environment, timeoutMs: longestMs, isBare: true };
    const { code, stdout, stderr } = await runCommand(command, options);
    return code === 0 ? [] : [`LibreChat ended with ${code}: ${stdout.slice(-300)}${stderr.slice(-3000)}`];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
