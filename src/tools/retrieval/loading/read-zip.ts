import { inflateRawSync } from 'node:zlib';
import { DocumentFault } from './document-fault.ts';

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const endLength = 22;
const entryLength = 46;
const longestComment = 65_535;
const maxEntries = 20_000;
const stored = 0;
const deflated = 8;

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly packedBytes: number;
  readonly offset: number;
}

/**
 * The parts of an archive. What they come to is counted while they are unpacked, whatever the archive says of itself; a part
 * that `isWanted` refuses is not unpacked. Throws DocumentFault if it is broken, encrypted or too large.
 */
export function readZip(bytes: Uint8Array, maxBytes: number, isWanted: (name: string) => boolean): Map<string, Buffer> {
  const archive = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts = new Map<string, Buffer>();
  let left = maxBytes;
  for (const entry of readDirectory(archive)) {
    if (!isWanted(entry.name) || parts.has(entry.name)) continue;
    const part = unpack(archive, entry, left);
    left -= part.length;
    parts.set(entry.name, part);
  }
  return parts;
}

/** Names of the parts, unpacking nothing. Throws DocumentFault. */
export function listZip(bytes: Uint8Array): string[] {
  return readDirectory(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).map(({ name }) => name);
}

function readDirectory(archive: Buffer): Entry[] {
  try {
    const end = findEnd(archive);
    const count = archive.readUInt16LE(end + 10);
    if (count > maxEntries) throw new DocumentFault(`The archive has more than ${maxEntries} parts.`);
    const entries: Entry[] = [];
    let at = archive.readUInt32LE(end + 16);
    for (let index = 0; index < count; index += 1) {
      if (archive.readUInt32LE(at) !== entrySignature) throw broken();
      if ((archive.readUInt16LE(at + 8) & 1) === 1) throw new DocumentFault('The document is encrypted.');
      const nameLength = archive.readUInt16LE(at + 28);
      entries.push({
        name: archive.toString('utf8', at + entryLength, at + entryLength + nameLength),
        method: archive.readUInt16LE(at + 10),
        packedBytes: archive.readUInt32LE(at + 20),
        offset: archive.readUInt32LE(at + 42),
      });
      at += entryLength + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
    }
    return entries;
  } catch (cause) {
    throw cause instanceof DocumentFault ? cause : broken(cause);
  }
}

function findEnd(archive: Buffer): number {
  const first = Math.max(0, archive.length - endLength - longestComment);
  for (let at = archive.length - endLength; at >= first; at -= 1) {
    if (archive.readUInt32LE(at) === endSignature) return at;
  }
  throw broken();
}

function unpack(archive: Buffer, { method, packedBytes, offset }: Entry, maxBytes: number): Buffer {
  try {
    const start = offset + 30 + archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28);
    const packed = archive.subarray(start, start + packedBytes);
    if (packed.length > maxBytes || maxBytes === 0) throw tooLarge();
    if (method === stored) return packed;
    if (method !== deflated) throw new DocumentFault('The archive is packed in a way that cannot be read.');
    return inflateRawSync(packed, { maxOutputLength: maxBytes });
  } catch (cause) {
    if (cause instanceof DocumentFault) throw cause;
    throw (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : broken(cause);
  }
}

function tooLarge(): DocumentFault {
  return new DocumentFault('Unpacked, the document is larger than what may be read.');
}

function broken(cause?: unknown): DocumentFault {
  return new DocumentFault('The file is damaged: its archive cannot be unpacked.', { cause });
}
