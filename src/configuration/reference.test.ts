import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { configurationReference } from './reference.ts';

const root = join(import.meta.dirname, '../..');

describe('configurationReference', () => {
  it('has a row for each key, with type, default, and description', () => {
    const reference = configurationReference();
    expect(reference).toContain(
      '| `tools.maxTurns` | integer | `15` | Maximum number of model calls in a run. The last one has no tools. 1: no tools. |',
    );
    expect(reference).toContain(
      '| `models.<id>.upstreams[].protocol` | `openai`, `azure`, `anthropic`, `bedrock`, `vertex`, `gemini`, `mistral`, `dial`, `demo` |  |',
    );
    expect(reference).toContain('| `keys.<secret or name>.project` | string | required |');
    expect(reference).toContain('| `addons.<name>.authorization.password` | string | required | `basic`: ');
  });
});

it('generates pages that match their source', async () => {
  const run = promisify(execFile);
  await run(process.execPath, [join(root, 'scripts/generate-docs.ts'), '--check'], { cwd: root });
});
