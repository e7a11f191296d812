/** The content of a file, as a model gives it. */
export interface FileContent {
  readonly bytes: Buffer;
  /** Media type that a `data:` URL names. */
  readonly type: string | undefined;
  /** What it calls the file. */
  readonly name: string | undefined;
}

const dataUrl = /^data:([\w.+-]+\/[\w.+-]+)?((?:;[\w.+-]+=[^;,]*)*)(;base64)?,/i;

/** A text is its own content; a `data:` URL (RFC 2397, also with `;name=`) stands for bytes. */
export function toContent(text: string): FileContent {
  const [head, type, parameters = '', base64] = dataUrl.exec(text) ?? [];
  if (head === undefined) return { bytes: Buffer.from(text), type: undefined, name: undefined };
  const rest = text.slice(head.length);
  const name = /;(?:file)?name=([^;]*)/i.exec(parameters)?.[1];
  return {
    bytes: base64 === undefined ? Buffer.from(percentDecoded(rest)) : Buffer.from(rest, 'base64'),
    type: type?.toLowerCase(),
    name: name === undefined || name === '' ? undefined : percentDecoded(name),
  };
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
