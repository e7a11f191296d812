import type { QuickApp } from '#domain/quick-app/quick-app.ts';
import { withoutSecrets } from '#tools/authorization/masking.ts';

/** Characters of one text inside, of one item's text, and of all of them together. */
const most = { inside: 16_000, item: 64_000, all: 1_000_000 };
/** Files inside a message. */
const mostOfDataUrl = 100;

/** Texts of a trace: without secrets of the application, and cut so that all of them together stay small. */
export class TraceText {
  readonly #secrets: readonly string[];
  #charsLeft = most.all;

  constructor(app: QuickApp) {
    this.#secrets = secretsOf(app);
  }

  of(text: string): string {
    return this.#within(shortened(withoutSecrets(text, this.#secrets), most.inside));
  }

  /** JSON; if it would be too long its beginning alone. */
  ofJson(value: unknown): string {
    const text = JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'string' ? this.#inside(inner) : inner));
    return this.#within(shortened(text, most.item));
  }

  #inside(text: string): string {
    const longest = text.startsWith('data:') ? mostOfDataUrl : most.inside;
    return shortened(withoutSecrets(text, this.#secrets), longest);
  }

  #within(text: string): string {
    const kept = shortened(text, this.#charsLeft);
    this.#charsLeft = Math.max(0, this.#charsLeft - kept.length);
    return kept;
  }
}

function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()}… [${text.length - most} more characters]`;
}

const secretKeys = ['key', 'password', 'token', 'client_secret'];

function secretsOf({ toolsets }: QuickApp): readonly string[] {
  return toolsets.flatMap((toolset) => {
    const authorization = 'authorization' in toolset ? toolset.authorization : null;
    return Object.entries(authorization ?? {}).flatMap(([key, value]) =>
      secretKeys.includes(key) && typeof value === 'string' ? [value] : [],
    );
  });
}
