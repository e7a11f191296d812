import { hash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative } from 'node:path';
import type { PageSettings } from '#contract/configuration/service.ts';
import { backgrounds, readLogoData, toAccents } from '#contract/page/brand.ts';

/** Paths of branding files, relative to `/`. */
export const brandPaths = ['brand/style.css', 'brand/logo', 'brand/icon.svg', 'manifest.webmanifest'] as const;

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.woff': 'font/woff',
  '.ttf': 'font/ttf',
};

/** Returns a branding file: colors, logo, or manifest. Undefined if it is not configured. */
export function buildBrandFile(path: (typeof brandPaths)[number], settings: PageSettings): PageFile | undefined {
  if (path === 'brand/logo' || path === 'brand/icon.svg') return buildLogoFile(path, settings.logo ?? '');
  if (path === 'manifest.webmanifest')
    return toFile(path, 'application/manifest+json', Buffer.from(JSON.stringify(buildManifest(settings))));
  const css = settings.accent === undefined ? '' : buildAccentStyle(settings.accent);
  return toFile(path, 'text/css; charset=utf-8', Buffer.from(css));
}

function buildLogoFile(path: 'brand/logo' | 'brand/icon.svg', text: string): PageFile | undefined {
  const logo = readLogoData(text);
  if (logo === undefined) return undefined;
  if (path === 'brand/icon.svg') return toFile(path, 'image/svg+xml', Buffer.from(drawIcon(text)));
  return toFile(path, logo.type, Buffer.from(logo.data, 'base64'));
}

/** Returns the index page with the operator's branding and the settings that the page needs before its first request. */
export function applyBranding(index: PageFile, settings: PageSettings): PageFile {
  const { name, notice, accent, offline } = settings;
  const version = settings.logo === undefined ? undefined : digest(settings.logo);
  const logo = version === undefined ? undefined : `./brand/logo?${version}`;
  const head = [
    '<link rel="manifest" href="./manifest.webmanifest">',
    `<link rel="apple-touch-icon" href="${version === undefined ? './icon-192.png' : `./brand/icon.svg?${version}`}">`,
    accent !== undefined && `<link rel="stylesheet" href="./brand/style.css?${accent.slice(1)}">`,
    `<meta name="parley-brand" content="${escapeHtml(JSON.stringify({ name, notice, logo, ...(!offline && { offline }) }))}">`,
  ];
  let text = index.plain.toString('utf8');
  if (name !== undefined) text = text.replaceAll('Parley', () => escapeHtml(name));
  if (logo !== undefined)
    text = text.replace(/(<link rel="icon" )href="[^"]{0,20000}" type="image\/svg\+xml"/, `$1href="${logo}"`);
  text = text.replace('</head>', () => `${head.filter((line) => line !== false).join('\n    ')}\n  </head>`);
  return toFile(index.path, index.contentType, Buffer.from(text));
}

function buildManifest({ name = 'Parley', logo, accent }: PageSettings): object {
  return {
    ...{ name, short_name: name, id: './', start_url: './', scope: './', display: 'standalone' },
    ...{
      background_color: backgrounds.light.ground,
      theme_color: accent === undefined ? '#17605a' : toAccents(accent).light.accent,
    },
    icons: logo === undefined ? defaultIcons : listIcons(logo),
  };
}

/** Icons of Parley, drawn by scripts/draw-icons.ts. */
const defaultIcons = [
  { src: './icon-192.png', type: 'image/png', sizes: '192x192', purpose: 'any' },
  { src: './icon-512.png', type: 'image/png', sizes: '512x512', purpose: 'any' },
  { src: './icon-maskable-512.png', type: 'image/png', sizes: '512x512', purpose: 'maskable' },
  { src: './parley.svg', type: 'image/svg+xml', sizes: 'any', purpose: 'any' },
];

function listIcons(logo: string): readonly object[] {
  const icon = { src: `./brand/icon.svg?${digest(logo)}`, type: 'image/svg+xml', sizes: 'any' };
  return [
    { ...icon, purpose: 'any' },
    { ...icon, purpose: 'maskable' },
  ];
}

/** Returns an icon with the logo on a square, with a margin for systems that crop the edges. */
function drawIcon(logo: string): string {
  const picture = `<image href="${escapeHtml(logo)}" x="116" y="116" width="280" height="280"/>`;
  const ground = `<rect width="512" height="512" fill="${backgrounds.light.raised}"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512">${ground}${picture}</svg>`;
}

function buildAccentStyle(configuredAccent: string): string {
  const { light, dark } = toAccents(configuredAccent);
  const lightDark = (part: 'accent' | 'ink' | 'soft'): string => `light-dark(${light[part]}, ${dark[part]})`;
  return `:root { --accent: ${lightDark('accent')}; --accent-ink: ${lightDark('ink')}; --accent-soft: ${lightDark('soft')}; }\n`;
}

function toFile(path: string, contentType: string, plain: Buffer): PageFile {
  return { path, contentType, plain, etag: `"${digest(plain)}"`, brotli: undefined, gzip: undefined };
}

/** Returns a digest of 22 characters for ETags and URLs. */
export function digest(content: string | Buffer): string {
  return hash('sha256', content, 'base64url').slice(0, 22);
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** One file of the built page. */
export interface PageFile {
  /** Path relative to the page, such as `assets/main-BkQ1.js`. */
  readonly path: string;
  readonly contentType: string;
  readonly etag: string;
  readonly plain: Buffer;
  /** Compressed copies, if the build created them. */
  readonly brotli: Buffer | undefined;
  readonly gzip: Buffer | undefined;
}

/** Returns the names of the files with a known type at the top level of the page folder. Empty if the page is not built. */
export function listRootFiles(folder: string): string[] {
  if (!existsSync(join(folder, 'index.html'))) return [];
  return readdirSync(folder).filter((name) => extname(name) in contentTypes);
}

/** Reads all files of the built page with a known type, by path. */
export async function readPage(folder: string): Promise<ReadonlyMap<string, PageFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
  const contents = new Map(await Promise.all(paths.map(async (path) => [path, await readFile(join(folder, path))] as const)));
  const page = new Map<string, PageFile>();
  for (const [relativePath, plain] of contents) {
    const contentType = contentTypes[extname(relativePath)];
    if (contentType === undefined) continue;
    const path = relativePath.replaceAll('\\', '/');
    const [brotli, gzip] = [contents.get(`${relativePath}.br`), contents.get(`${relativePath}.gz`)];
    page.set(path, { ...toFile(path, contentType, plain), brotli, gzip });
  }
  return page;
}
