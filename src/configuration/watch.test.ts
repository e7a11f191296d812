import { writeFileSync } from 'node:fs';
import { mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RejectedConfiguration, ValidConfiguration } from '#contract/configuration/checked-configuration.ts';
import { formatConfigurationError } from '#contract/configuration/checked-configuration.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { type Folder, makeFolder } from '#test/check-files.ts';
import { checkConfiguration } from './check.ts';
import { loadConfiguration } from './load.ts';
import { type ConfigurationWatch, watchConfiguration } from './watch.ts';

const withModels = (...ids: readonly string[]) =>
  JSON.stringify({ models: Object.fromEntries(ids.map((id) => [id, { upstreams: [{ protocol: 'demo' }] }])) });

let folder: Folder;
let watch: ConfigurationWatch | undefined;
/** Model IDs of each configuration that was loaded, and the errors of each that was rejected. */
let reports: string[];

beforeEach(async () => {
  folder = await makeFolder();
  reports = [];
});

afterEach(async () => {
  await watch?.close();
  watch = undefined;
  await folder[Symbol.asyncDispose]();
});

async function startWatch(
  files: readonly string[],
  load = () => loadConfiguration(files, {}),
  initialConfiguration?: Configuration,
): Promise<void> {
  watch = await watchConfiguration(files, load, {
    initialConfiguration,
    onLoaded: ({ configuration }) => void reports.push(Object.keys(configuration.models).join(' ')),
    onRejected: (errors) =>
      void reports.push(errors.map((error) => formatConfigurationError(error).replace(`${folder.path}/`, '')).join('\n')),
  });
}

async function expectReports(...expected: readonly string[]): Promise<void> {
  await vi.waitFor(() => expect(reports).toEqual(expected), { timeout: 5000, interval: 10 });
}

describe('watchConfiguration', () => {
  it('reloads a file when it is written, and replaces the complete configuration', async () => {
    const file = await folder.write('a.json', withModels('one', 'two'));
    await startWatch([file]);
    await writeFile(file, withModels('two', 'three'));
    await expectReports('two three');
  });

  it('reports each change of the content once, including changed secrets, regardless of the number of writes', async () => {
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
      await vi.waitFor(() => expect(reports).toEqual(Array(expected).fill('m')), { timeout: 5000, interval: 10 });
    }
  });

  it('loads once after a burst of writes and uses the last one', async () => {
    const file = await folder.write('a.json', withModels());
    await startWatch([file]);
    // Writes without a turn of the event loop in between, so that a slow machine cannot split the burst.
    for (let index = 0; index <= 20; index++) writeFileSync(file, withModels(`m${index}`));
    await expectReports('m20');
    await wait(300);
    await expectReports('m20');
  });

  it('reloads each time an editor replaces the file', async () => {
    const file = await folder.write('a.json', withModels());
    await startWatch([file]);
    for (const [index, id] of ['one', 'two', 'three'].entries()) {
      await rename(await folder.write('a.json.tmp', withModels(id)), file);
      await vi.waitFor(() => expect(reports.length).toBe(index + 1), { timeout: 5000 });
    }
    await expectReports('one', 'two', 'three');
  });

  it('reloads when the file is moved away and then written again', async () => {
    const file = await folder.write('a.json', withModels('one'));
    await startWatch([file]);
    await rename(file, `${file}~`);
    await wait(20);
    await writeFile(file, withModels('two'));
    await expectReports('two');
    await writeFile(file, withModels('three'));
    await expectReports('two', 'three');
  });

  it.each([[true], [false]])(
    'reloads when the link to its folder gets a new target, as on Kubernetes, while deletion of the old folder is %s',
    async (isOldFolderDeleted) => {
      await folder.write('..v1/a.json', withModels('one'));
      await symlink('..v1', join(folder.path, '..data'));
      const file = join(folder.path, 'a.json');
      await symlink('..data/a.json', file);
      await startWatch([file]);
      for (const [index, version] of ['..v2', '..v3'].entries()) {
        await folder.write(`${version}/a.json`, withModels(version));
        await symlink(version, join(folder.path, '..data_tmp'));
        await rename(join(folder.path, '..data_tmp'), join(folder.path, '..data'));
        if (isOldFolderDeleted) await rm(join(folder.path, `..v${index + 1}`), { recursive: true });
        await vi.waitFor(() => expect(reports.at(-1)).toBe(version), { timeout: 5000 });
      }
      await writeFile(file, withModels('in-place'));
      await vi.waitFor(() => expect(reports.at(-1)).toBe('in-place'), { timeout: 5000 });
      expect([...new Set(reports)]).toEqual(['..v2', '..v3', 'in-place']);
    },
  );

  it('reloads when any one of its files changes', async () => {
    const first = await folder.write('a.json', withModels('one'));
    const second = await folder.write('elsewhere/b.json', withModels('two'));
    await startWatch([first, second]);
    await writeFile(second, withModels('three'));
    await expectReports('one three');
  });

  it('ignores other files in the same folder', async () => {
    const file = await folder.write('a.json', withModels('one'));
    await startWatch([file]);
    await folder.write('data.sqlite-wal', 'x');
    await mkdir(join(folder.path, 'files'));
    await wait(400);
    await expectReports();
  });

  it('rejects an empty file and accepts {}', async () => {
    const file = await folder.write('a.json', withModels('one'));
    await startWatch([file]);
    const empty = 'a.json: is empty. Write {} for an empty configuration, or start without a file to run the demo';
    await writeFile(file, '');
    await expectReports(empty);
    await writeFile(file, '// to come\n\n');
    await expectReports(empty, empty);
    await writeFile(file, '{}');
    await expectReports(empty, empty, '');
  });

  it('reports each new error once, and a valid configuration after it', async () => {
    const file = await folder.write('a.json', withModels('one'));
    await startWatch([file]);
    await writeFile(file, '{"models":');
    await expectReports('a.json: line 1, column 11: a value is expected here');
    await writeFile(file, '{"modles":{}}');
    await expectReports(
      'a.json: line 1, column 11: a value is expected here',
      'a.json: modles: is not a known key. Did you mean models?',
    );
    await rm(file);
    await vi.waitFor(() => expect(reports.at(-1)).toBe('a.json: does not exist'), { timeout: 5000 });
    await writeFile(file, withModels('one'));
    await vi.waitFor(() => expect(reports.at(-1)).toBe('one'), { timeout: 5000 });
    expect(reports.length).toBe(4);
  });
});

describe('watchConfiguration with a configuration from before the watch', () => {
  async function readConfiguration(file: string): Promise<Configuration> {
    const loaded = await loadConfiguration([file], {});
    if ('errors' in loaded) throw new Error(loaded.errors.map(formatConfigurationError).join('\n'));
    return loaded.configuration;
  }

  it('reloads if the file changed before the watch started', async () => {
    const file = await folder.write('a.json', withModels('one'));
    const before = await readConfiguration(file);
    await writeFile(file, withModels('two'));
    await startWatch([file], undefined, before);
    await expectReports('two');
  });

  it('rejects a file that became invalid before the watch started, and reloads after the original content is restored', async () => {
    const file = await folder.write('a.json', withModels('one'));
    const before = await readConfiguration(file);
    await writeFile(file, '{"models":');
    await startWatch([file], undefined, before);
    await vi.waitFor(() => expect(reports.length).toBe(1), { timeout: 5000 });
    await writeFile(file, withModels('one'));
    await expectReports('a.json: line 1, column 11: a value is expected here', 'one');
  });

  it('reports no change if the file did not change', async () => {
    const file = await folder.write('a.json', withModels('one'));
    await startWatch([file], undefined, await readConfiguration(file));
    await wait(400);
    await expectReports();
  });
});

describe('watchConfiguration during a load', () => {
  /** Creates loads that end when the test resolves them. */
  function makeLoads() {
    const running: ((loaded: ValidConfiguration | RejectedConfiguration) => void)[] = [];
    const load = () => new Promise<ValidConfiguration | RejectedConfiguration>((resolve) => running.push(resolve));
    const end = (index: number, id: string) => running[index]?.(checkConfiguration(JSON.parse(withModels(id))));
    return { running, load, end };
  }

  async function touch(file: string): Promise<void> {
    await utimes(file, new Date(), new Date());
    await wait(300);
  }

  it('does not start a concurrent load, and loads once more after changes during a load', async () => {
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
    await expectReports('first', 'second');
  });

  it('ignores the result if the watch is closed', async () => {
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
    await expectReports();
  });

  it('rejects a configuration if the listener throws, and continues to watch', async () => {
    const file = await folder.write('a.json', withModels('one'));
    const causes: unknown[] = [];
    watch = await watchConfiguration([file], () => loadConfiguration([file], {}), {
      onLoaded: ({ configuration }) => {
        if ('bad' in configuration.models) throw new Error('no such protocol');
        reports.push('loaded');
      },
      onRejected: (errors, cause) => {
        reports.push(...errors.map(({ message }) => message));
        causes.push(cause);
      },
    });
    await writeFile(file, withModels('bad'));
    await expectReports('cannot be applied. See the log for the reason');
    expect(causes).toEqual([new Error('no such protocol')]);
    await writeFile(file, withModels('good'));
    await expectReports('cannot be applied. See the log for the reason', 'loaded');
  });
});
