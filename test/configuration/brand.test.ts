import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkConfiguration } from '#configuration/check.ts';
import { loadConfiguration } from '#configuration/load.ts';
import { openFolder } from '#test/temporary-folder.ts';

const given = { models: { m: { upstreams: [{ protocol: 'demo' }] } }, keys: { 'a-key': { project: 'p' } } };
const picture = '<svg xmlns="http://www.w3.org/2000/svg"/>';

function told(page: object): readonly string[] {
  const checked = checkConfiguration({ ...given, page });
  return [...('faults' in checked ? checked.faults : []), ...checked.warnings].map(({ path, message }) => `${path} ${message}`);
}

it('A logo is read from a file beside the configuration, and told where it cannot be', async () => {
  await using folder = await openFolder();
  const load = async (logo: string) => {
    const file = join(folder.path, 'parley.json');
    await writeFile(file, JSON.stringify({ ...given, page: { logo } }));
    const loaded = await loadConfiguration([file], {});
    return 'faults' in loaded ? loaded.faults.map(({ path, message }) => `${path} ${message}`) : loaded.configuration.page.logo;
  };
  await mkdir(join(folder.path, 'looks'));
  await writeFile(join(folder.path, 'looks/mark.SVG'), picture);
  await writeFile(join(folder.path, 'huge.png'), Buffer.alloc(300_000));
  expect(await load('looks/mark.SVG')).toBe(`data:image/svg+xml;base64,${Buffer.from(picture).toString('base64')}`);
  expect(await load('gone.png')).toEqual(['page.logo names a file that cannot be read']);
  expect(await load('huge.png')).toEqual(['page.logo names a file that is empty, or larger than 256 KiB']);
  expect(await load('/etc/passwd')).toEqual([expect.stringContaining('page.logo must name a file that ends in .svg')]);
});

it('Names of several lines, pictures of no kind and colours by name are refused', () => {
  expect(told({ name: 'Acme\nCorp' })).toEqual(['page.name must be one line without spaces around it']);
  expect(told({ accent: 'blue' })).toEqual(['page.accent must be a colour such as #0b57d0']);
  expect(told({ logo: 'data:text/html;base64,AAAA' })).toEqual([expect.stringContaining('page.logo must be the name of a file')]);
});

it('An accent that cannot be read on the light page is adapted, and that is told', () => {
  expect(told({ accent: '#ffdd00' })).toEqual([
    expect.stringMatching(/^page.accent is too pale to be read on the light page; #[0-9a-f]{6} is used there$/),
  ]);
  expect(told({ accent: '#0B57D0', name: 'Acme', notice: 'Two\nlines' })).toEqual([]);
});
