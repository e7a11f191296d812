import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { drawIcon, icons } from './drawn-icons.ts';
import { type PageFixture, startPageFixture } from './support.ts';

const picture = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 20"><path d="M0 0h60v20H0z" fill="#cc0044"/></svg>';
const logo = `data:image/svg+xml;base64,${Buffer.from(picture).toString('base64')}`;

let fixture: PageFixture;
let branded: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
  branded = await startPageFixture({ page: { name: 'Acme', accent: '#0b57d0', logo } });
});

afterAll(async () => {
  await branded[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

interface Manifest {
  readonly name: string;
  readonly theme_color: string;
  readonly icons: readonly { readonly src: string; readonly type: string; readonly sizes: string; readonly purpose: string }[];
}

const readManifest = async ({ service }: PageFixture): Promise<Manifest> =>
  (await service.app.inject('/manifest.webmanifest')).json();

/** Returns the number of icons that the browser reads from the manifest, and the number of errors that it reports. */
async function readBrowserManifest(at: PageFixture): Promise<{ readonly errors: number; readonly icons: number | undefined }> {
  const { page } = await at.openAt('/');
  await page.getByLabel('Key').waitFor();
  const session = await page.context().newCDPSession(page);
  const { errors, manifest } = await session.send('Page.getAppManifest');
  await session.detach();
  return { errors: errors.length, icons: manifest?.icons?.length };
}

/**
 * Returns a script that resolves to the size of an image and the colors of the given points. Points are fractions of the side.
 */
function buildSampleScript(src: string, points: readonly (readonly [number, number])[]): string {
  return `new Promise((resolve, reject) => {
    const image = new Image();
    image.onerror = () => reject(new Error('not a picture'));
    image.onload = () => {
      const canvas = Object.assign(document.createElement('canvas'), { width: 192, height: 192 });
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0, 192, 192);
      const at = ([x, y]) => [...context.getImageData(x * 192, y * 192, 1, 1).data].join();
      resolve([image.naturalWidth, image.naturalHeight, ...${JSON.stringify(points)}.map(at)]);
    };
    image.src = ${JSON.stringify(src)};
  })`;
}

/**
 * Returns a script that resolves to the width of the first image and the fraction of its values that differ from the second by
 * more than 32.
 */
function buildCompareScript(pictures: readonly Buffer[]): string {
  const sources = pictures.map((png) => `data:image/png;base64,${png.toString('base64')}`);
  return `Promise.all(${JSON.stringify(sources)}.map((src) => new Promise((resolve) => {
    const image = new Image();
    image.onload = () => {
      const { width, height } = image;
      const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d');
      context.drawImage(image, 0, 0);
      resolve([width, context.getImageData(0, 0, width, height).data]);
    };
    image.src = src;
  }))).then(([[width, one], [, other]]) => [width, one.filter((value, at) => Math.abs(value - other[at]) > 32).length / one.length])`;
}

describe('the installable page', () => {
  it('has a valid manifest with the name, the color, and the icons of Parley', async () => {
    expect(await readBrowserManifest(fixture)).toEqual({ errors: 0, icons: 4 });
    const { name, theme_color, icons: manifestIcons } = await readManifest(fixture);
    expect([name, theme_color]).toEqual(['Parley', '#17605a']);
    expect(manifestIcons.map(({ sizes, purpose }) => `${sizes} ${purpose}`)).toEqual([
      '192x192 any',
      '512x512 any',
      '512x512 maskable',
      'any any',
    ]);
    const { page, issues } = await fixture.openAt('/');
    for (const { src, sizes, purpose, type } of manifestIcons) {
      const { headers, statusCode } = await fixture.service.app.inject(src.slice(1));
      expect([src, statusCode, headers['content-type'], headers['cache-control']]).toEqual([src, 200, type, 'no-cache']);
      const [width, height, corner, speech] = (await page.evaluate(
        buildSampleScript(src, [
          [0, 0],
          [0.4, 0.43],
        ]),
      )) as readonly (number | string)[];
      if (sizes !== 'any') expect(`${width}x${height}`).toBe(sizes);
      expect([src, speech]).toEqual([src, '251,250,248,255']);
      expect([src, corner]).toEqual([src, purpose === 'maskable' ? '23,96,90,255' : '0,0,0,0']);
    }
    expect(await page.locator('link[rel=apple-touch-icon]').getAttribute('href')).toBe('./icon-192.png');
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('uses the name and the color of the operator, and the logo on a square that a system may crop', async () => {
    expect(await readBrowserManifest(branded)).toEqual({ errors: 0, icons: 2 });
    const { name, theme_color, icons: manifestIcons } = await readManifest(branded);
    expect([name, theme_color, manifestIcons.map(({ purpose }) => purpose)]).toEqual(['Acme', '#0b57d0', ['any', 'maskable']]);
    const { page, issues } = await branded.openAt('/');
    const [{ src = '' } = {}] = manifestIcons;
    const samples = await page.evaluate(
      buildSampleScript(src, [
        [0.02, 0.02],
        [0.5, 0.5],
        [0.5, 0.3],
      ]),
    );
    expect((samples as readonly string[]).slice(2)).toEqual(['255,255,255,255', '204,0,68,255', '255,255,255,255']);
    const { headers } = await branded.service.app.inject(src.slice(1));
    expect(headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'content-security-policy': expect.stringMatching(/^sandbox/),
    });
    expect((await fixture.service.app.inject('/brand/icon.svg')).statusCode).toBe(404);
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('has icons that match the current mark (see scripts/draw-icons.ts)', async () => {
    const folder = fileURLToPath(new URL('../../web/public/', import.meta.url));
    const mark = await readFile(`${folder}parley.svg`, 'utf8');
    const browser = (await fixture.openAt('/')).page.context().browser();
    if (browser === null) throw new Error('the page has no browser');
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    for (const icon of icons) {
      const pictures = [await readFile(`${folder}${icon.file}`), await drawIcon(browser, mark, icon)];
      const [width, differing] = (await page.evaluate(buildCompareScript(pictures))) as readonly number[];
      expect([icon.file, width]).toEqual([icon.file, icon.pixels]);
      // Another browser version may render edges differently.
      expect([icon.file, differing]).toEqual([icon.file, expect.closeTo(0, 2)]);
    }
  });
});
