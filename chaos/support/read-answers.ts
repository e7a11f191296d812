/** One of several responses on a connection. */
export interface ReadAnswer {
  readonly status: number;
  readonly isJson: boolean;
  readonly isWhole: boolean;
  readonly body: string;
}

/** Parses all final responses in the latin1 output of a connection. The requests must not be HEAD requests. */
export function readAnswers(received: string): readonly ReadAnswer[] {
  const answers: ReadAnswer[] = [];
  let remaining = received;
  while (remaining !== '') {
    const end = remaining.indexOf('\r\n\r\n');
    const head = end < 0 ? remaining : remaining.slice(0, end + 2);
    const status = Number(/^HTTP\/1\.[01] (\d{3})[ \r]/.exec(head)?.[1] ?? 0);
    if (end < 0 || status === 0) return [...answers, { status, isJson: false, isWhole: false, body: remaining }];
    remaining = remaining.slice(end + 4);
    if (status < 200) continue;
    const { body, length, isWhole } = readBody(head, remaining, status);
    answers.push({ status, isJson: /\r\ncontent-type: *application\/json/i.test(head), isWhole, body });
    remaining = remaining.slice(length);
  }
  return answers;
}

interface Body {
  readonly body: string;
  /** Length within the received text. */
  readonly length: number;
  readonly isWhole: boolean;
}

function readBody(head: string, remaining: string, status: number): Body {
  if (status === 204 || status === 304) return { body: '', length: 0, isWhole: true };
  const contentLength = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (contentLength !== undefined)
    return {
      body: remaining.slice(0, Number(contentLength)),
      length: Number(contentLength),
      isWhole: remaining.length >= Number(contentLength),
    };
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return readChunks(remaining);
  return { body: remaining, length: remaining.length, isWhole: true };
}

/** Parses the chunks that have arrived. */
export function readChunks(remaining: string): Body {
  const pieces: string[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = remaining.indexOf('\r\n', at);
    const size = lineEnd < 0 ? Number.NaN : Number.parseInt(remaining.slice(at, lineEnd), 16);
    if (Number.isNaN(size)) return { body: pieces.join(''), length: remaining.length, isWhole: false };
    const next = lineEnd + 2 + size + 2;
    if (size === 0) return { body: pieces.join(''), length: next, isWhole: remaining.length >= next };
    pieces.push(remaining.slice(lineEnd + 2, next - 2));
    at = next;
  }
}
