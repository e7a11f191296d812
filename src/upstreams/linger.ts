/** How long the rest of a reply is waited for after its end mark, so that its connection can serve again. */
const lingerMs = 500;
const mostReads = 16;

/** Reads on for a moment without anybody waiting; what does not end is closed. */
export function linger(pieces: AsyncIterator<string>): void {
  const close = (): void => void pieces.return?.();
  const timer = setTimeout(close, lingerMs);
  const rest = async (): Promise<void> => {
    for (let read = 0; read < mostReads; read += 1) if ((await pieces.next()).done) return;
    close();
  };
  rest()
    .catch(() => undefined)
    .finally(() => clearTimeout(timer));
}
