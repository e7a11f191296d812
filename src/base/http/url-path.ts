/** A path or an address without the slashes at its end. */
export function trimEndSlashes(text: string): string {
  let end = text.length;
  while (text.charAt(end - 1) === '/') end -= 1;
  return text.slice(0, end);
}

/** The address of a path below a base address, which may end with a slash or not; its query stays. */
export function joinPath(base: URL, path: string): URL {
  const url = new URL(base);
  url.pathname = `${trimEndSlashes(url.pathname)}/${path}`;
  return url;
}

/** What follows a prefix in the URL of a request, the query included; undefined if the prefix does not end where a segment does. */
export function urlBelow(prefix: string, url: string): string | undefined {
  if (!url.startsWith(prefix)) return undefined;
  const rest = url.slice(prefix.length);
  return prefix.endsWith('/') || /^(?:[/?]|$)/.test(rest) ? rest : undefined;
}

/** The path that follows a prefix in the URL of a request, still percent-encoded; empty if the URL is not below the prefix. */
export function pathBelow(prefix: string, url: string): string {
  return getPath(urlBelow(prefix, url) ?? '');
}

/** The path of a request's URL, still percent-encoded. */
export function getPath(url: string): string {
  const [path = ''] = url.split('?', 1);
  return path;
}

/** The address with the parts of a query added whose names its own query does not have. */
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
