import { writeFileSync } from 'node:fs';
import { mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { type Folder, makeFolder } from '#test/check-files.ts';
import type { Accepted, Refused } from './check.ts';
import { checkConfiguration } from './check.ts';
import { formatConfigurationError } from './configuration-error.ts';
import { loadConfiguration } from './load.ts';
import { type ConfigurationWatch, watchConfiguration } from './watch.ts';

const withModels = (...ids: readonly string[]) =>
  JSON.stringify({ models: Object.fromEntries(ids.map((id) => [id, { upstreams: [{ protocol: 'demo' }] }])) });

let folder: Folder;
let watch: ConfigurationWatch | undefined;
/** The ids of the models of each configuration that was put in force, and the faults of each that was refused. */
let told: string[];

beforeEach(async () => {
  folder = await makeFolder();
  told = [];
});

afterEach(async () => {
  await watch?.close();
  watch = undefined;
  await folder[Symbol.asyncDispose]();
});

async function startWatch(
  files: readonly string[],
  load = () => loadConfiguration(files, {}),
  readBefore?: Configuration,
): Promise<void> {
  watch = await watchConfiguration(files, load, {
    readBefore,
    onLoaded: (configuration) => void told.push(Object.keys(configuration.models).join(' ')),
    onRefused: (faults) =>
      void told.push(faults.map((fault) => formatConfigurationError(fault).replace(`${folder.path}/`, '')).join('\n')),
  });
}

async function expectTold(...expected: readonly string[]): Promise<void> {
  await vi.waitFor(() => expect(told).toEqual(expected), { timeout: 5000, interval: 10 });
}

describe('a watched configuration', () => {
  it('is loaded anew when its file is written, and holds only what is in it now', async () => {
    const file = await folder.write('a.json', withModels('one', 'two'));
    await startWatch([file]);
    await writeFile(file, withModels('two', 'three'));
    await expectTold('two three');
  });

  it('is told once for each change of what it says, a secret among it, however often it is written', async () => {
    const withKey = (key: string) => JSON.stringify({ models: { m: { upstreams: [{ endpoint: 'https://a.example', key }] } } });
    const file = await folder.write('a.json', withKey('first'));
    let loads = 0;
    await startWatch([file], () => {
      loads += 1;
      return loadConfiguration([file], {});
    });
    for (const [index, [key, expected]] of (
      [
        ['first', 1],
        ['first', 1],
        ['second', 2],
      ] as const
    ).entries()) {
      await rename(await folder.write('a.json.tmp', withKey(key)), file);
      await vi.waitFor(() => expect(loads).toBeGreaterThan(index), { timeout: 5000, interval: 10 });
      await vi.waitFor(() => expect(told).toEqual(Array(expected).fill('m')), { timeout: 5000, interval: 10 });
    }
  });

  it('is loaded once for a burst of writes, with the last of them', async () => {
    const file = await folder.write('a.json', withModels());
    await startWatch([file]);
    // Without a turn of the event loop in between, so that a slow machine cannot make two bursts of it.
    for (let index = 0; index <= 20; index++) writeFileSync(file, withModels(`m${index}`));
    await expectTold('m20');
    await wait(300);
    await expectTold('m20');
  });

  it('is loaded anew each time an editor puts another file in the place of its file', async () => {
    const file = await folder.write('a.json', withModels());
    await startWatch([file]);
    for (const [index, id] of ['one', 'two', 'three'].entries()) {
      await rename(await folder.write('a.json.tmp', withModels(id)), file);
      await vi.waitFor(() => expect(told.length).toBe(index + 1), { timeout: 5000 });
    }
    await expectTold('one', 'two', 'three');
  });

  it('is loaded anew when its file is moved away, and written anew soon after', async () => {
    const file = await folder.write('a.json', withModels('one'));
    await startWatch([file]);
    await rename(file, `${file}~`);
    await wait(20);
    await writeFile(file, withModels('two'));
    await expectTold('two');
    await writeFile(file, withModels('three'));
    await expectTold('two', 'three');
  });

  it.each([[true], [false]])(
    'is loaded anew when the link to its folder leads elsewhere, as on Kubernetes; the old folder goes: %s',
    async (goes) => {
      await folder.write('..v1/a.json', withModels('one'));
      await symlink('..v1', join(folder.path, '..data'));
      const file = join(folder.path, 'a.json');
      await symlink('..data/a.json', file);
      await startWatch([file]);
      for (const [index, version] of ['..v2', '..v3'].entries()) {
        await folder.write(`${version}/a.json`, withModels(version));
        await symlink(version, join(folder.path, '..data_tmp'));
        await rename(join(folder.path, '..data_tmp'), join(folder.path, '..data'));
        if (goes) await rm(join(folder.path, `..v${index + 1}`), { recursive: true });
        await vi.waitFor(() => expect(told.at(-1)).toBe(version), { timeout: 5000 });
      }
      await writeFile(file, withModels('in-place'));
      await vi.waitFor(() => expect(told.at(-1)).toBe('in-place'), { timeout: 5000 });
      expect([...new Set(told)]).toEqual(['..v2', '..v3', 'in-place']);
    },
  );

  it('is loaded anew when any of several files changes', async () => {
    const first = await folder.write('a.json', withModels('one'));
    const second = await folder.write('elsewhere/b.json', withModels('two'));
    await startWatch([first, second]);
    await writeFile(second, withModels('three'));
    await expectTold('one three');
  });

  it('pays no heed to other files beside its own', async () => {
    const file = await folder.write('a.json', withModels('one'));
    await startWatch([file]);
    await folder.write('data.sqlite-wal', 'x');
    await mkdir(join(folder.path, 'files'));
    await wait(400);
    await expectTold();
  });

  it('that is empty for a while is refused, and {} is somebody’s wish', async () => {
    const file = await folder.write('a.json', withModels('one'));
    await startWatch([file]);
    const empty = 'a.json: is empty; an empty configuration is written {}, and where no file is named the demo is served';
    await writeFile(file, '');
    await expectTold(empty);
    await writeFile(file, '// to come\n\n');
    await expectTold(empty, empty);
    await writeFile(file, '{}');
    await expectTold(empty, empty, '');
  });

  it('is told refused with its faults when it breaks, again when it breaks otherwise, and loaded when it is mended', async () => {
    const file = await folder.write('a.json', withModels('one'));
    await startWatch([file]);
    await writeFile(file, '{"models":');
    await expectTold('a.json: line 1, column 11: a value is expected here');
    await writeFile(file, '{"modles":{}}');
    await expectTold(
      'a.json: line 1, column 11: a value is expected here',
      'a.json: modles: is not a known key; did you mean models?',
    );
    await rm(file);
    await vi.waitFor(() => expect(told.at(-1)).toBe('a.json: there is no such file'), { timeout: 5000 });
    await writeFile(file, withModels('one'));
    await vi.waitFor(() => expect(told.at(-1)).toBe('one'), { timeout: 5000 });
    expect(told.length).toBe(4);
  });
});

describe('a configuration that was read before it was watched', () => {
  async function readBefore(file: string): Promise<Configuration> {
    const loaded = await loadConfiguration([file], {});
    if ('faults' in loaded) throw new Error(loaded.faults.map(formatConfigurationError).join('\n'));
    return loaded.configuration;
  }

  it('is loaded anew where it changed in between', async () => {
    const file = await folder.write('a.json', withModels('one'));
    const before = await readBefore(file);
    await writeFile(file, withModels('two'));
    await startWatch([file], undefined, before);
    await expectTold('two');
  });

  it('is told refused where it broke in between, and loaded once it says again what it said', async () => {
    const file = await folder.write('a.json', withModels('one'));
    const before = await readBefore(file);
    await writeFile(file, '{"models":');
    await startWatch([file], undefined, before);
    await vi.waitFor(() => expect(told.length).toBe(1), { timeout: 5000 });
    await writeFile(file, withModels('one'));
    await expectTold('a.json: line 1, column 11: a value is expected here', 'one');
  });

  it('is told to nobody where it did not', async () => {
    const file = await folder.write('a.json', withModels('one'));
    await startWatch([file], undefined, await readBefore(file));
    await wait(400);
    await expectTold();
  });
});

describe('a load', () => {
  /** Loads that end when they are told to. */
  function makeLoads() {
    const running: ((loaded: Accepted | Refused) => void)[] = [];
    const load = () => new Promise<Accepted | Refused>((resolve) => running.push(resolve));
    const end = (index: number, id: string) => running[index]?.(checkConfiguration(JSON.parse(withModels(id))));
    return { running, load, end };
  }

  async function touch(file: string): Promise<void> {
    await utimes(file, new Date(), new Date());
    await wait(300);
  }

  it('never runs beside another; a change while it runs leads to one more', async () => {
    const file = await folder.write('a.json', withModels('one'));
    const { running, load, end } = makeLoads();
    await startWatch([file], load);
    await touch(file);
    await touch(file);
    await touch(file);
    expect(running.length).toBe(1);
    end(0, 'first');
    await vi.waitFor(() => expect(running.length).toBe(2), 8_000);
    end(1, 'second');
    await wait(300);
    expect(running.length).toBe(2);
    await expectTold('first', 'second');
  });

  it('that ends after the watch was closed is told to no one', async () => {
    const file = await folder.write('a.json', withModels('one'));
    const { running, load, end } = makeLoads();
    await startWatch([file], load);
    await touch(file);
    expect(running.length).toBe(1);
    const closed = watch?.close();
    end(0, 'late');
    await closed;
    await touch(file);
    expect(running.length).toBe(1);
    await expectTold();
  });

  it('that cannot be put in force is told refused, and the watch goes on', async () => {
    const file = await folder.write('a.json', withModels('one'));
    const causes: unknown[] = [];
    watch = await watchConfiguration([file], () => loadConfiguration([file], {}), {
      onLoaded: (configuration) => {
        if ('bad' in configuration.models) throw new Error('no such protocol');
        told.push('loaded');
      },
      onRefused: (faults, cause) => {
        told.push(...faults.map(({ message }) => message));
        causes.push(cause);
      },
    });
    await writeFile(file, withModels('bad'));
    await expectTold('cannot be put in force; the log says why');
    expect(causes).toEqual([new Error('no such protocol')]);
    await writeFile(file, withModels('good'));
    await expectTold('cannot be put in force; the log says why', 'loaded');
  });
});
