/** One of several answers on a connection. */
export interface ReadAnswer {
  readonly status: number;
  readonly isJson: boolean;
  readonly isWhole: boolean;
  readonly body: string;
}

/** All final answers in what a connection said, as latin1 text, to requests that were not HEAD. */
export function readAnswers(said: string): readonly ReadAnswer[] {
  const answers: ReadAnswer[] = [];
  let rest = said;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    const head = end < 0 ? rest : rest.slice(0, end + 2);
    const status = Number(/^HTTP\/1\.[01] (\d{3})[ \r]/.exec(head)?.[1] ?? 0);
    if (end < 0 || status === 0) return [...answers, { status, isJson: false, isWhole: false, body: rest }];
    rest = rest.slice(end + 4);
    if (status < 200) continue;
    const { body, length, isWhole } = readBody(head, rest, status);
    answers.push({ status, isJson: /\r\ncontent-type: *application\/json/i.test(head), isWhole, body });
    rest = rest.slice(length);
  }
  return answers;
}

interface Body {
  readonly body: string;
  /** Of what was said. */
  readonly length: number;
  readonly isWhole: boolean;
}

function readBody(head: string, rest: string, status: number): Body {
  if (status === 204 || status === 304) return { body: '', length: 0, isWhole: true };
  const told = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (told !== undefined)
    return { body: rest.slice(0, Number(told)), length: Number(told), isWhole: rest.length >= Number(told) };
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return readChunks(rest);
  return { body: rest, length: rest.length, isWhole: true };
}

/** The content of chunks, as far as they came. */
export function readChunks(rest: string): Body {
  const pieces: string[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = rest.indexOf('\r\n', at);
    const size = lineEnd < 0 ? Number.NaN : Number.parseInt(rest.slice(at, lineEnd), 16);
    if (Number.isNaN(size)) return { body: pieces.join(''), length: rest.length, isWhole: false };
    const next = lineEnd + 2 + size + 2;
    if (size === 0) return { body: pieces.join(''), length: next, isWhole: rest.length >= next };
    pieces.push(rest.slice(lineEnd + 2, next - 2));
    at = next;
  }
}
