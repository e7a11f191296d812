/** Saves a file on the user's device. The page never opens it. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Returns a file name that is valid on every system. */
export function toFileName(title: string, extension: string): string {
  const stem =
    title
      .replace(/[^\p{L}\p{N}._-]+/gu, ' ')
      .trim()
      .slice(0, 60) || 'parley';
  return stem.toLowerCase().endsWith(`.${extension}`) ? stem : `${stem}.${extension}`;
}
