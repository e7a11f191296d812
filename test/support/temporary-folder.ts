import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder of one test, gone with it. */
export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function openFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'parley-test-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
