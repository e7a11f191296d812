/**
 * Checks src and web with dependency-cruiser. Also fails if dependency-cruiser saw fewer modules than there are files, or if a
 * file of src/app/features does not define exactly one feature.
 */

import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';

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
const moduleCount = modules.filter(({ source }) => /^(src|web)\/.*\.tsx?$/.test(source)).length;
const features = files.filter((path) => path.startsWith('src/app/features/') && !path.endsWith('.test.ts'));
const errors = [
  ...summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`),
  ...(moduleCount < files.length ? [`only ${moduleCount} of ${files.length} modules were checked`] : []),
  ...features.filter((path) => countFeatures(path) !== 1).map((path) => `features-are-files: ${path} must define one feature`),
];
for (const error of errors) console.error(error);
if (errors.length > 0) process.exit(1);
console.log(`layers: ${moduleCount} modules, no violation`);

function countFeatures(path: string): number {
  return readFileSync(path, 'utf8').match(/^export const \w+: Feature = /gm)?.length ?? 0;
}
