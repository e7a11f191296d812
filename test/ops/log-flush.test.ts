import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('the log is complete and in order when the process exits', async () => {
  const program = fileURLToPath(new URL('./fixtures/log-and-exit.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program], { maxBuffer: 1e7 });
  const messages = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(messages).toHaveLength(5_002);
  expect(messages[0]).toMatchObject({ level: 'info', msg: 'begins', time: expect.any(Number) });
  expect(messages.slice(1, -1).map(({ index }) => index)).toEqual(Array.from({ length: 5_000 }, (_, index) => index));
  expect(messages.at(-1)).toMatchObject({ msg: 'ends' });
});
