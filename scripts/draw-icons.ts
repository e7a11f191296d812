/** Draws the icons of the installed page from its logo, web/public/parley.svg, with Debian's Chromium. */

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { drawIcon, icons } from '../test/web/drawn-icons.ts';

const folder = fileURLToPath(new URL('../web/public/', import.meta.url));
const mark = readFileSync(`${folder}parley.svg`, 'utf8');
await using browser = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox'] });
for (const icon of icons) {
  const image = await drawIcon(browser, mark, icon);
  writeFileSync(`${folder}${icon.file}`, image);
  console.log(`${icon.file}: ${image.length} bytes`);
}
