/** Runs dependency-cruiser over src and web. Also fails if it saw fewer modules than there are files. */

import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';

const run = spawnSync('depcruise', ['src', 'web/src', '--config', '.dependency-cruiser.cjs', '--output-type', 'json'], {
  encoding: 'utf8',
  maxBuffer: 256 * 1024 * 1024,
});
if (run.error) throw run.error;
interface Cruise {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: {
    readonly violations: readonly { readonly from: string; readonly to: string; readonly rule: { readonly name: string } }[];
  };
}
const { modules, summary } = JSON.parse(run.stdout) as Cruise;
const files = globSync(['src/**/*.ts', 'web/src/**/*.{ts,tsx}']);
const cruised = modules.filter(({ source }) => /^(src|web)\/.*\.tsx?$/.test(source)).length;
for (const { rule, from, to } of summary.violations) console.error(`${rule.name}: ${from} → ${to}`);
if (cruised < files.length) console.error(`only ${cruised} of ${files.length} modules were checked`);
if (summary.violations.length > 0 || cruised < files.length) process.exit(1);
console.log(`layers: ${cruised} modules, no violation`);
