import { expect, it } from 'vitest';
import { createLog } from '#telemetry/log.ts';
import { closeInOrder } from './drain.ts';

const lines: string[] = [];
const log = createLog({ level: 'error', sink: { write: (line) => lines.push(line) }, secrets: () => [] });

it('closes every stage after the one before, whatever fails, and tells each reason', async () => {
  const closed: string[] = [];
  const closing = (name: string) => ({ close: async () => void closed.push(name) });
  const slow = { close: () => new Promise((resolve) => setTimeout(resolve, 20)).then(() => closed.push('slow')) };
  const rejecting = { close: () => Promise.reject(new Error('the watch is stuck')) };
  const throwing = {
    close() {
      throw new Error('the port is gone');
    },
  };
  const areClosed = await closeInOrder(
    [[rejecting, throwing, slow, closing('door')], [closing('records')], [closing('log')]],
    log,
  );
  expect(areClosed).toBe(false);
  expect(closed).toEqual(['door', 'slow', 'records', 'log']);
  expect(lines.join('')).toMatch(/the watch is stuck[\s\S]*the port is gone/);
});

it('says so where all is closed', async () => {
  expect(await closeInOrder([[{ close: () => undefined }], [{ close: async () => undefined }]], log)).toBe(true);
});
