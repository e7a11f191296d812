import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary folder of one test. Disposal deletes it. */
export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function openFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'parley-test-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
