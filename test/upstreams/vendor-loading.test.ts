import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const program = `
  import { registerHooks } from 'node:module';
  const asked = new Set();
  registerHooks({
    resolve(specifier, context, next) {
      if (/^@ai-sdk\\//.test(specifier) && context.parentURL.includes('/src/')) asked.add(specifier);
      return next(specifier, context);
    },
  });
  await import('./src/app/service/compose.ts');
  const before = [...asked];
  const { openProvider } = await import('./src/upstreams/ai-sdk/open-provider.ts');
  const { vendors } = await import('./src/upstreams/ai-sdk/vendors.ts');
  await openProvider(vendors.mistral, { headers: {}, timeouts: {} }, {});
  console.log(JSON.stringify({ before, after: [...asked] }));
`;

it('the package of a vendor is loaded only when the first provider of its protocol opens', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: root });
  expect(JSON.parse(stdout)).toEqual({ before: [], after: ['@ai-sdk/mistral'] });
});
