/** Returns the file name of a reference. */
export function getFileName(reference: string): string {
  const [path = ''] = reference.split('#', 1);
  const last = path.split('/').at(-1) ?? path;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
