import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import type { BenchOptions } from './arguments.ts';
import type { Harness } from './contenders.ts';

function readVersion(program: string, word: string): string {
  const run = spawnSync(program, [word], { encoding: 'utf8' });
  return `${run.stdout ?? ''}${run.stderr ?? ''}`.trim().replace('nginx version: ', '') || 'absent';
}

function readPackageVersion(folder: string, name: string): string {
  const { version } = JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')) as { version: string };
  return `${name} ${version}`;
}

/** Returns lines about the machine, the programs, and the run. */
export function gatherFacts(harness: Harness, options: BenchOptions, minutes: number): string[] {
  const cores = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  const programs = [`Node ${readVersion(harness.node, '--version')}`];
  if (options.contenders.includes('nginx')) programs.push(readVersion('nginx', '-v'));
  if (options.contenders.includes('portkey')) {
    const folder = join(harness.bench, 'peers/portkey');
    programs.push(readPackageVersion(folder, '@portkey-ai/gateway'), readPackageVersion(folder, '@hono/node-server'));
  }
  const length = options.scale === 1 ? '' : ` of runs shortened to ${options.scale}`;
  const niceness = options.niceness ? `; niceness ${options.niceness}` : '';
  return [
    `${new Date().toISOString().slice(0, 10)}, ${options.rounds} round${options.rounds === 1 ? '' : 's'}${length}, ${minutes.toFixed(0)} minutes${niceness}`,
    `${cores[0]?.model.trim()}, ${cores.length} cores, ${memory} GB, Linux ${release()}`,
    programs.join(', '),
    'nginx: one worker, kept-alive upstreams, key check, 15-field log, replies unbuffered. Bare Node: `node:http` before the client of Parley, bodies parsed and written, no other work. Parley: validation, keys, limits, metrics and logs on.',
  ];
}
