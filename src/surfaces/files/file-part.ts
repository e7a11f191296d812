import { ParleyError } from '#contract/errors.ts';
import { FormReader } from '../http/form/form-reader.ts';
import type { PartHead } from '../http/form/part-head.ts';

/** One part of a form, its bytes yet to come. */
export interface FormPart {
  /** As the part says; undefined where it says none. */
  readonly contentType: string | undefined;
  /** Throws `LaterPart` at their end if it turns out that another part is meant. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Thrown where a part was read that has a filename, and the one named `file` stands behind it. */
export class LaterPart extends Error {
  readonly part: FormPart;

  constructor(part: FormPart) {
    super('another part of the form is the file');
    this.name = 'LaterPart';
    this.part = part;
  }
}

/**
 * The part of a form (RFC 7578) that is the file: the one named `file`, else the first with a filename. What comes behind one named `file` is not
 * read. Throws `invalid_request`, also while its bytes are read.
 */
export async function readFilePart(body: AsyncIterable<Uint8Array>, boundary: string): Promise<FormPart> {
  const reader = new FormReader(body, boundary);
  await reader.begin();
  const head = await reader.skipTo(({ name, filename }) => name === 'file' || filename !== '');
  if (head === undefined)
    throw new ParleyError('invalid_request', 'The form has no part named file, and none with a filename.', { param: 'file' });
  return head.name === 'file' ? { contentType: head.contentType, bytes: reader.content() } : untilNamed(reader, head);
}

/** A part that is the file unless one named `file` follows. */
function untilNamed(reader: FormReader, { contentType }: PartHead): FormPart {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield* reader.content();
    const named = await reader.skipTo(({ name }) => name === 'file');
    if (named !== undefined) throw new LaterPart({ contentType: named.contentType, bytes: reader.content() });
  }
  return { contentType, bytes: bytes() };
}
