import type { Page } from 'playwright-core';
import { toSpread } from '../statistics.ts';
import type { Figure } from './figure.ts';
import { measureUntil } from './stored-items.ts';
import type { WebWorld } from './world.ts';

/** Records the time of the first frame with an enabled message field. */
const recordUsable = `(() => {
  const look = () => {
    const box = document.querySelector('#message');
    if (box !== null && !box.disabled) globalThis.usableAtMs = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()`;

interface FirstLoad {
  readonly requests: readonly string[];
  readonly bytes: number;
  /** Size of the typeface, which loads after the rest. */
  readonly typefaceBytes: number;
}

/** Returns the requests and the network bytes of a first visit, including headers. */
async function measureVisit(page: Page, address: string): Promise<FirstLoad> {
  const session = await page.context().newCDPSession(page);
  const requests: string[] = [];
  let bytes = 0;
  let typefaceRequestId: string | undefined;
  const typefaceBytes = Promise.withResolvers<number>();
  session.on('Network.requestWillBeSent', ({ request, requestId }) => {
    if (request.url.includes('public-sans')) typefaceRequestId = requestId;
    else if (/^https?:/.test(request.url)) requests.push(`${request.method} ${new URL(request.url).pathname}`);
  });
  session.on('Network.loadingFinished', ({ encodedDataLength, requestId }) => {
    if (requestId === typefaceRequestId) typefaceBytes.resolve(encodedDataLength);
    else bytes += encodedDataLength;
  });
  await session.send('Network.enable');
  await page.goto(address);
  await page.locator('.starter').first().waitFor();
  await page.waitForLoadState('networkidle');
  return { requests, bytes, typefaceBytes: await typefaceBytes.promise };
}

async function measureUsableMs(world: WebWorld): Promise<number> {
  const page = await world.openBlank();
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  await page.addInitScript(recordUsable);
  await page.goto(world.address);
  await measureUntil(page, '', 'globalThis.usableAtMs > 0');
  const ms = Number(await page.evaluate('globalThis.usableAtMs'));
  await page.context().close();
  return ms;
}

/** Measures the cost of a first visit and the time until the user can type on a slow machine. */
export async function measureFirstLoad(world: WebWorld): Promise<readonly Figure[]> {
  const page = await world.openBlank();
  const { requests, bytes, typefaceBytes } = await measureVisit(page, world.address);
  await page.context().close();
  const times: number[] = [];
  for (let round = 0; round < 5; round += 1) times.push(await measureUsableMs(world));
  const { median = Number.POSITIVE_INFINITY } = toSpread(times) ?? {};
  return [
    { title: 'first load, compressed', max: 120, unit: 'kB', value: bytes / 1000 },
    { title: 'first load, requests', max: 12, unit: '', value: requests.length, details: [requests.join(', ')] },
    { title: 'typeface, after the input works', max: 50, unit: 'kB', value: typefaceBytes / 1000 },
    { title: 'input works, processor slowed 4×, median of 5', max: 2, unit: 's', value: median / 1000 },
  ];
}
