import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installNpmPackages } from './install.ts';
import { readSnippets, type Snippet } from './page.ts';
import { type ResponsesWorld, responsesDeployments, startResponsesWorld, strictDeployments } from './responses-world.ts';
import { runCommand } from './run-command.ts';
import { installPythonPackages } from './runtimes.ts';

const programsFolder = join(import.meta.dirname, '..');
const nodeFolder = join(programsFolder, 'node/responses');
const shownAddress = 'http://127.0.0.1:8080';
const longestMs = 180_000;
/** Languages of the page's recipes that run here. The repository has no dependency on these clients. */
export const responsesLanguages: readonly string[] = ['mjs', 'toml', 'bash'];

interface CheckContext {
  readonly world: ResponsesWorld;
  readonly node: string;
  /** A separate folder from which the packages resolve. */
  readonly folder: string;
}

/**
 * Runs clients of the Responses API with every kind of deployment, and the page's recipes for them. Returns one line for each
 * failure.
 */
export async function checkResponses(): Promise<string[]> {
  const [node, python] = await Promise.all([installNpmPackages('node-responses', nodeFolder), installPythonPackages('newest')]);
  const folder = await mkdtemp(join(tmpdir(), 'parley-responses-'));
  try {
    await using world = await startResponsesWorld();
    await symlink(join(node, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'clients.mjs'), await readFile(join(nodeFolder, 'clients.mjs')));
    const setting = { world, node, folder };
    const snippets = (await readSnippets()).filter(({ language }) => responsesLanguages.includes(language));
    const inPython = (name: string): string[] => [join(python, 'bin/python'), '-B', join(programsFolder, `python/${name}.py`)];
    const [ofClients, ofCodex, ofClaudeCode] = await Promise.all([
      runAll(setting, [
        ['the clients in JavaScript', [process.execPath, 'clients.mjs', ...responsesDeployments]],
        ['openai for Python', [...inPython('openai_responses'), ...responsesDeployments]],
        ['the types of openai for Python', [...inPython('openai_schemas'), ...strictDeployments]],
        ...(await toRecipes(setting, snippets)),
      ]),
      runCodex(setting, snippets),
      runClaudeCode(setting, snippets),
    ]);
    return [...ofClients, ...ofCodex, ...ofClaudeCode];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type NamedCommand = readonly [name: string, command: readonly string[]];

async function toRecipes({ world, folder }: CheckContext, snippets: readonly Snippet[]): Promise<NamedCommand[]> {
  const programs = snippets.filter(({ language }) => language === 'mjs');
  return Promise.all(
    programs.map(async ({ client, code }, index): Promise<NamedCommand> => {
      await writeFile(join(folder, `recipe-${index}.mjs`), code.replaceAll(shownAddress, world.url));
      return [`the recipe of ${client}`, [process.execPath, `recipe-${index}.mjs`]];
    }),
  );
}

async function runAll({ world, folder }: CheckContext, programs: readonly NamedCommand[]): Promise<string[]> {
  const errors: string[] = [];
  for (const [name, command] of programs) {
    const options = { folder, environment: world.environment, timeoutMs: longestMs, isBare: true };
    const { code, stdout, stderr } = await runCommand(command, options);
    const isAnswered = !name.startsWith('the recipe') || /from the mock\.|Paris/.test(stdout);
    if (code !== 0 || !isAnswered) errors.push(`${name} ended with ${code}: ${stdout.slice(-300)}${stderr.slice(-1500)}`);
  }
  return errors;
}

/** Codex edits a file with the configuration of the page. */
async function runCodex({ world, node, folder }: CheckContext, snippets: readonly Snippet[]): Promise<string[]> {
  const recipe = snippets.find(({ language }) => language === 'toml');
  if (recipe === undefined) return ['docs/clients.md has no configuration of Codex'];
  return editEach('Codex', folder, async (deployment, { home, work }) => {
    await writeFile(join(home, 'config.toml'), recipe.code.replaceAll(shownAddress, world.url));
    const flags = ['exec', '--skip-git-repo-check', '-s', 'danger-full-access', '-m', deployment, 'Change the greeting'];
    const environment = { ...world.environment, CODEX_HOME: home, HOME: home };
    const options = { folder: work, environment, timeoutMs: longestMs, isBare: true };
    return runCommand([join(node, 'node_modules/.bin/codex'), ...flags], options);
  });
}

/** Claude Code answers the prompt of the page's recipe, and edits a file with the settings of the page. */
async function runClaudeCode({ world, node, folder }: CheckContext, snippets: readonly Snippet[]): Promise<string[]> {
  const recipe = snippets.find(({ language }) => language === 'bash')?.code.replaceAll(shownAddress, world.url);
  if (recipe === undefined) return ['docs/clients.md has no recipe of Claude Code'];
  const programs = join(node, `node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}`);
  const run = (script: string, { home, work }: Place) => {
    const path = `${programs}:${process.env.PATH}`;
    const environment = { ...world.environment, HOME: home, PATH: path, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' };
    return runCommand(['bash', '-c', script], { folder: work, environment, timeoutMs: longestMs, isBare: true });
  };
  const answer = await run(recipe, { home: folder, work: folder });
  const settings = recipe.split('\n').filter((line) => line.startsWith('export '));
  const edit = 'claude -p "Change the greeting" --allowedTools Bash';
  const errors = await editEach('Claude Code', folder, (deployment, place) =>
    run([...settings.map((line) => line.replaceAll('=demo', `=${deployment}`)), edit].join('\n'), place),
  );
  const isAnswered = answer.code === 0 && answer.stdout.includes('from the mock.');
  return isAnswered ? errors : [...errors, `the recipe of Claude Code ended with ${answer.code}: ${answer.stderr.slice(-600)}`];
}

interface Place {
  /** Home folder of the client, without other settings. */
  readonly home: string;
  readonly work: string;
}

/** Lets a client edit a file with each kind of deployment. */
async function editEach(
  client: string,
  folder: string,
  run: (deployment: string, place: Place) => ReturnType<typeof runCommand>,
): Promise<string[]> {
  const errors: string[] = [];
  for (const deployment of responsesDeployments) {
    const home = join(folder, `${client.replace(' ', '-')}-${deployment}`);
    const work = join(home, 'work');
    await mkdir(work, { recursive: true });
    await writeFile(join(work, 'greeting.txt'), 'Hello\n');
    const { code, stderr } = await run(deployment, { home, work });
    const text = await readFile(join(work, 'greeting.txt'), 'utf8');
    if (code !== 0 || text !== 'Goodbye\n') errors.push(`${client} with ${deployment} ended with ${code}: ${stderr.slice(-600)}`);
  }
  return errors;
}
