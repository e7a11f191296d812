import { trimEnd } from '../text/truncate.ts';

/** Returns the URL of a path below a base URL, which may end with a slash. Keeps the query of the base URL. */
export function joinPath(base: URL, path: string): URL {
  const url = new URL(base);
  url.pathname = `${trimEnd(url.pathname, '/')}/${path}`;
  return url;
}

/** Returns the rest of a request URL after a prefix, with its query, or undefined if no path segment ends there. */
export function stripUrlPrefix(prefix: string, url: string): string | undefined {
  if (!url.startsWith(prefix)) return undefined;
  const suffix = url.slice(prefix.length);
  return prefix.endsWith('/') || /^(?:[/?]|$)/.test(suffix) ? suffix : undefined;
}

/** Returns the percent-encoded path after a prefix in a request URL, or an empty string if the URL is not below it. */
export function stripPathPrefix(prefix: string, url: string): string {
  return getPath(stripUrlPrefix(prefix, url) ?? '');
}

/** Returns the path of a request's URL, still percent-encoded. */
export function getPath(url: string): string {
  const [path = ''] = url.split('?', 1);
  return path;
}

/** Splits a path at its last slash. Without a slash, `parent` is empty. */
export function splitPath(path: string): { readonly parent: string; readonly name: string } {
  const end = path.lastIndexOf('/');
  return { parent: path.slice(0, Math.max(end, 0)), name: path.slice(end + 1) };
}

/** Returns the URL with the parameters of `query` added, except those whose names the URL already has. */
export function addQuery(base: URL, query: string): URL {
  const url = new URL(base);
  const existingNames = new Set(url.searchParams.keys());
  const added = query.split('&').filter((part) => part !== '' && !existingNames.has(getName(part)));
  url.search = [url.search.slice(1), ...added].filter((part) => part !== '').join('&');
  return url;
}

function getName(part: string): string {
  const [name = ''] = new URLSearchParams(part).keys();
  return name;
}

/** Returns the decoded text, or undefined if it is not valid percent-encoding. */
export function tryDecode(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
