import type { Browser } from 'playwright-core';

interface Icon {
  readonly file: string;
  readonly pixels: number;
  /** Fraction of the side that the mark covers. The rest is background, which a system may crop. */
  readonly share: number;
}

/** The icons of the manifest that are drawn from the mark. */
export const icons: readonly Icon[] = [
  { file: 'icon-192.png', pixels: 192, share: 1 },
  { file: 'icon-512.png', pixels: 512, share: 1 },
  { file: 'icon-maskable-512.png', pixels: 512, share: 0.95 },
];

/** Draws the mark as a PNG image. An icon that a system may crop has an opaque background up to the edges. */
export async function drawIcon(browser: Browser, mark: string, { pixels, share }: Icon): Promise<Buffer> {
  const ground = share === 1 ? 'transparent' : (/<rect[^>]*fill="(#[0-9a-f]+)"/.exec(mark)?.[1] ?? 'transparent');
  const page = await browser.newPage({ viewport: { width: pixels, height: pixels } });
  const side = Math.round(pixels * share);
  await page.setContent(
    `<style>body { margin: 0; display: grid; place-items: center; height: 100vh; background: ${ground}; } svg { width: ${side}px; height: ${side}px; }</style>${mark}`,
  );
  const drawn = await page.screenshot({ omitBackground: true });
  await page.close();
  return drawn;
}
