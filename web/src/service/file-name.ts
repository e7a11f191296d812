/** The name of a stored file, out of its reference. */
export function getFileName(reference: string): string {
  const [path = ''] = reference.split('#', 1);
  const last = path.split('/').at(-1) ?? path;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
