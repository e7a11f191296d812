import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';

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
  readonly isGood: boolean;
  readonly output: string;
}

function run(command: string, ...args: readonly string[]): Run {
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', env: environment });
  return { isGood: status === 0, output: error?.message ?? `${stdout}${stderr}` };
}

function aptGet(...args: readonly string[]): Run {
  return run('apt-get', '--quiet=2', '--yes', '-o', 'DPkg::Lock::Timeout=120', ...args);
}

/** Programs have different options to show their version. */
function isThere(program: string): boolean {
  return run('sh', '-c', `command -v ${program}`).isGood;
}

/** Installs packages without starting services. Updates the package lists if the first attempt fails. */
function install(names: readonly string[]): Run {
  const isOpen = !existsSync(servicePolicy);
  if (isOpen) writeFileSync(servicePolicy, '#!/bin/sh\nexit 101\n', { mode: 0o755, flag: 'wx' });
  try {
    const first = aptGet('install', '--no-install-recommends', ...names);
    if (first.isGood) return first;
    const update = aptGet('update');
    return update.isGood ? aptGet('install', '--no-install-recommends', ...names) : update;
  } finally {
    if (isOpen) rmSync(servicePolicy);
  }
}

/** Installs the missing packages. Returns the error message if that fails. */
function bring(names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const packageList = names.join(' ');
  if (process.getuid?.() !== 0)
    return `The tests need ${packageList}. Install them first, on Debian as root with: apt-get install ${packageList}`;
  const { isGood, output } = install(names);
  return isGood ? undefined : `The tests need ${packageList}, which could not be installed:\n${output}`;
}

const missing = [...packages].filter(([program]) => !isThere(program)).map(([, name]) => name);
const problem = bring(missing);
if (problem !== undefined) {
  console.error(problem);
  process.exitCode = 1;
}
