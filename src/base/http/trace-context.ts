/** Position in a W3C trace: the calling span and whether the trace is recorded. */
export interface TraceParent {
  /** 32 lower-case hex digits, not all zero. */
  readonly traceId: string;
  /** 16 lower-case hex digits, not all zero. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

const traceparentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const noTrace = '0'.repeat(32);
const noSpan = '0'.repeat(16);

/** Parses a `traceparent` header strictly (W3C Trace Context, level 2). Returns undefined if the header must be ignored. */
export function parseTraceparent(header: string | undefined): TraceParent | undefined {
  if (header === undefined || header.length > 256) return undefined;
  const match = traceparentPattern.exec(header);
  if (match === null) return undefined;
  const [, version, traceId = noTrace, spanId = noSpan, flags = '00', extra] = match;
  if (version === 'ff' || (version === '00' && extra !== undefined)) return undefined;
  if (traceId === noTrace || spanId === noSpan) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Returns a `traceparent` header of version 00. */
export function toTraceparent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

const maxTracestateChars = 512;
const maxMembers = 32;
const memberPattern = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** Returns a normalized `tracestate` header. Returns undefined if it is invalid or exceeds 32 members or 512 characters. */
export function normalizeTracestate(header: string | undefined): string | undefined {
  if (header === undefined || header === '' || header.length > maxTracestateChars) return undefined;
  const members = header
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  if (members.length === 0 || members.length > maxMembers || !members.every((item) => memberPattern.test(item))) return undefined;
  return members.join(',');
}

const poolBytes = 4096;

/** Generates random trace and span IDs. Each read of random bytes supplies many IDs. */
export class TraceIds {
  readonly #fill: (bytes: Buffer) => void;
  readonly #pool = Buffer.alloc(poolBytes);
  #used = poolBytes;

  /** `fill` overwrites a buffer with random bytes, as `crypto.randomFillSync` does. */
  constructor(fill: (bytes: Buffer) => void) {
    this.#fill = fill;
  }

  /** Returns the root of a new trace. It is recorded unless `isSampled` returns false. */
  createRoot(isSampled?: (traceId: string) => boolean): TraceParent {
    const ids = this.#next(24);
    const [traceId, spanId] = [ids.slice(0, noTrace.length), ids.slice(noTrace.length)];
    if (traceId === noTrace || spanId === noSpan) return this.createRoot(isSampled);
    return { traceId, spanId, isSampled: isSampled === undefined || isSampled(traceId) };
  }

  createSpanId(): string {
    const id = this.#next(8);
    return id === noSpan ? this.createSpanId() : id;
  }

  #next(bytes: number): string {
    if (this.#used + bytes > poolBytes) {
      this.#fill(this.#pool);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += bytes;
    return this.#pool.toString('hex', start, this.#used);
  }
}
