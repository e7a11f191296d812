import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { measureProse } from './figures/prose.ts';
import { measureStructure } from './figures/structure.ts';

const help = `Compares figures of the code and its English with scripts/figures/limits.json. A figure must not rise.

  npm run check:figures                 fails if a figure is over its limit
  npm run check:figures -- --write      lowers the limits to the current figures
  npm run check:figures -- --list NAME  prints the locations that a prose figure counts, such as comments`;

const limitsFile = new URL('./figures/limits.json', import.meta.url);
const { values } = parseArgs({ options: { write: { type: 'boolean' }, list: { type: 'string' }, help: { type: 'boolean' } } });
const { figures: prose, findings } = measureProse();
const figures: Readonly<Record<string, number>> = { ...measureStructure(), ...prose };
const limits = JSON.parse(readFileSync(limitsFile, 'utf8')) as Record<string, number>;

if (values.help) console.log(help);
else if (values.list !== undefined) {
  for (const { kind, at, text } of findings) if (kind === values.list) console.log(`${at}: ${text}`);
} else {
  const exceeded = Object.entries(figures).filter(([name, figure]) => figure > (limits[name] ?? Infinity));
  for (const [name, figure] of exceeded)
    console.error(
      `${name}: ${figure}, over the limit of ${limits[name]}. Rewrite or merge instead, or give the reason in the commit that raises it.`,
    );
  if (values.write)
    writeFileSync(
      limitsFile,
      `${JSON.stringify(Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, Math.min(figure, limits[name] ?? figure)])), null, 2)}\n`,
    );
  else if (exceeded.length > 0) process.exitCode = 1;
  console.log(
    `figures: ${Object.entries(figures)
      .map(([name, figure]) => `${name} ${figure}`)
      .join(', ')}`,
  );
}
