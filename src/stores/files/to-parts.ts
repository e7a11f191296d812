/** Bytes in pieces of one size, but for the last; none if there are no bytes. Holds one piece at a time. */
export async function* toParts(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  partBytes: number,
): AsyncGenerator<Buffer, undefined> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  for await (let piece of bytes) {
    while (heldBytes + piece.length >= partBytes) {
      const missing = partBytes - heldBytes;
      yield Buffer.concat([...held, piece.subarray(0, missing)], partBytes);
      piece = piece.subarray(missing);
      held = [];
      heldBytes = 0;
    }
    if (piece.length > 0) held.push(piece);
    heldBytes += piece.length;
  }
  if (heldBytes > 0) yield Buffer.concat(held, heldBytes);
}
