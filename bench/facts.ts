import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Wish } from './arguments.ts';
import type { Grounds } from './contenders.ts';

function readVersion(program: string, word: string): string {
  const run = spawnSync(program, [word], { encoding: 'utf8' });
  return `${run.stdout ?? ''}${run.stderr ?? ''}`.trim().replace('nginx version: ', '') || 'absent';
}

function packageVersion(folder: string, name: string): string {
  const { version } = JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')) as { version: string };
  return `${name} ${version}`;
}

/** Returns lines about the machine, the programs, and the run. */
export function gatherFacts(grounds: Grounds, wish: Wish, minutes: number): string[] {
  const cores = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  const programs = [`Node ${readVersion(grounds.node, '--version')}`];
  if (wish.contenders.includes('nginx')) programs.push(readVersion('nginx', '-v'));
  if (wish.contenders.includes('portkey')) {
    const folder = join(grounds.bench, 'peers/portkey');
    programs.push(packageVersion(folder, '@portkey-ai/gateway'), packageVersion(folder, '@hono/node-server'));
  }
  const length = wish.scale === 1 ? '' : ` of runs shortened to ${wish.scale}`;
  const niceness = wish.niceness ? `; niceness ${wish.niceness}` : '';
  return [
    `${new Date().toISOString().slice(0, 10)}, ${wish.rounds} round${wish.rounds === 1 ? '' : 's'}${length}, ${minutes.toFixed(0)} minutes${niceness}`,
    `${cores[0]?.model.trim()}, ${cores.length} cores, ${memory} GB, Linux ${release()}`,
    programs.join(', '),
    'nginx: one worker, kept-alive upstreams, key check, 15-field log, replies unbuffered. Bare Node: `node:http` before the client of Parley, bodies parsed and written, no other work. Parley: validation, keys, limits, metrics and logs on.',
  ];
}
