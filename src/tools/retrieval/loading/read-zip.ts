import { inflateRawSync } from 'node:zlib';
import { DocumentError } from './loader.ts';

// Signatures, lengths, and offsets of fields follow the ZIP specification (APPNOTE.TXT, 4.3.7, 4.3.12, and 4.3.16).
const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const endLength = 22;
const entryLength = 46;
const maxCommentLength = 65_535;
const maxEntries = 20_000;
const storedMethod = 0;
const deflatedMethod = 8;

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly packedBytes: number;
  readonly offset: number;
}

/**
 * Unpacks the parts of an archive. The total size is counted during unpacking, because sizes in the archive are not trusted.
 * `shouldUnpack` selects the parts by name. Throws `DocumentError` if the archive is damaged, encrypted, or too large.
 */
export function readZip(bytes: Uint8Array, maxBytes: number, shouldUnpack: (name: string) => boolean): Map<string, Buffer> {
  const archive = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts = new Map<string, Buffer>();
  let remainingBytes = maxBytes;
  for (const entry of readDirectory(archive)) {
    if (!shouldUnpack(entry.name) || parts.has(entry.name)) continue;
    const part = unpack(archive, entry, remainingBytes);
    remainingBytes -= part.length;
    parts.set(entry.name, part);
  }
  return parts;
}

/** Lists the names of the parts without unpacking them. Throws `DocumentError`. */
export function listZip(bytes: Uint8Array): string[] {
  return readDirectory(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).map(({ name }) => name);
}

function readDirectory(archive: Buffer): Entry[] {
  try {
    const end = findEnd(archive);
    const count = archive.readUInt16LE(end + 10);
    if (count > maxEntries) throw new DocumentError(`The archive has more than ${maxEntries} parts.`);
    const entries: Entry[] = [];
    let position = archive.readUInt32LE(end + 16);
    for (let index = 0; index < count; index += 1) {
      if (archive.readUInt32LE(position) !== entrySignature) throw createDamagedError();
      if ((archive.readUInt16LE(position + 8) & 1) === 1) throw new DocumentError('The document is encrypted.');
      const nameLength = archive.readUInt16LE(position + 28);
      entries.push({
        name: archive.toString('utf8', position + entryLength, position + entryLength + nameLength),
        method: archive.readUInt16LE(position + 10),
        packedBytes: archive.readUInt32LE(position + 20),
        offset: archive.readUInt32LE(position + 42),
      });
      position += entryLength + nameLength + archive.readUInt16LE(position + 30) + archive.readUInt16LE(position + 32);
    }
    return entries;
  } catch (cause) {
    throw cause instanceof DocumentError ? cause : createDamagedError(cause);
  }
}

function findEnd(archive: Buffer): number {
  const first = Math.max(0, archive.length - endLength - maxCommentLength);
  for (let position = archive.length - endLength; position >= first; position -= 1) {
    if (archive.readUInt32LE(position) === endSignature) return position;
  }
  throw createDamagedError();
}

function unpack(archive: Buffer, { method, packedBytes, offset }: Entry, maxBytes: number): Buffer {
  try {
    const start = offset + 30 + archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28);
    const packed = archive.subarray(start, start + packedBytes);
    if (packed.length > maxBytes || maxBytes === 0) throw createTooLargeError();
    if (method === storedMethod) return packed;
    if (method !== deflatedMethod) throw new DocumentError('The archive is packed in a way that cannot be read.');
    return inflateRawSync(packed, { maxOutputLength: maxBytes });
  } catch (cause) {
    if (cause instanceof DocumentError) throw cause;
    throw (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? createTooLargeError() : createDamagedError(cause);
  }
}

function createTooLargeError(): DocumentError {
  return new DocumentError('The unpacked document is too large to be read.');
}

function createDamagedError(cause?: unknown): DocumentError {
  return new DocumentError('The file is damaged: its archive cannot be unpacked.', { cause });
}
