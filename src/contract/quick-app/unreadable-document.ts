/** Extensions of formats whose text Parley cannot extract. */
const unreadableExtensions: ReadonlySet<string> = new Set([
  ...['png', 'jpg', 'jpeg', 'gif', 'webp', 'bmp', 'tif', 'tiff', 'heic', 'avif', 'ico', 'psd'],
  ...['mp3', 'wav', 'm4a', 'ogg', 'flac', 'aac', 'mp4', 'mov', 'avi', 'mkv', 'webm'],
  ...['zip', 'gz', 'tgz', 'bz2', 'xz', 'tar', '7z', 'rar', 'iso', 'dmg'],
  ...['doc', 'xls', 'ppt', 'odt', 'ods', 'odp', 'pages', 'numbers', 'key', 'epub', 'mobi'],
  ...['exe', 'dll', 'so', 'bin', 'class', 'jar', 'wasm', 'woff', 'woff2', 'ttf', 'otf', 'sqlite', 'parquet'],
]);
const unreadableTypes = /^(?:image\/(?!svg)|audio\/|video\/(?!mp2t)|font\/)/i;

/**
 * Returns whether the name or the content type of a document indicates that Parley cannot extract text. Parley tries to read it
 * anyway, because the first bytes decide.
 */
export function looksUnreadable(name: string, contentType = ''): boolean {
  const extension = (/\.([^./]+)$/.exec(name)?.[1] ?? '').toLowerCase();
  return unreadableExtensions.has(extension) || unreadableTypes.test(contentType);
}

/** Continuation of a sentence that starts with the path of the document. */
export const unreadableDocument = {
  message: 'names a file of a type that cannot be searched',
  hint: 'use PDF, docx, xlsx, pptx, or text',
};
