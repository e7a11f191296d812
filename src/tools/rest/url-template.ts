import { ToolFault } from '#domain/tools/tool.ts';

const placeholder = /\{([^{}]*)\}/g;

/** An address with `{name}` in its path or query. Whatever is filled in, host and path structure stay as they are written. */
export class UrlTemplate {
  readonly #template: string;
  readonly #shape: URL;

  /** Throws ToolFault if it is no http(s) address, or has a placeholder before its path. */
  constructor(template: string) {
    const [origin = ''] = /^https?:\/\/[^/?#\\]*/i.exec(template) ?? [];
    const example = template.replace(placeholder, 'x');
    if (origin === '' || origin.includes('{') || !URL.canParse(example))
      throw new ToolFault('the address of the tool is not well formed');
    this.#template = template;
    this.#shape = new URL(example);
  }

  /** Names that the query has a fixed value or a placeholder for. */
  get queryKeys(): ReadonlySet<string> {
    return new Set(this.#shape.searchParams.keys());
  }

  /** Throws ToolFault if a value is missing or would change the path. */
  fill(values: ReadonlyMap<string, string>): URL {
    const filled = this.#template.replace(placeholder, (_whole, name: string) => {
      const value = values.get(name);
      if (value === undefined || value === '') throw new ToolFault(`The argument ${name} is missing.`);
      return encodeText(value);
    });
    const [path = ''] = filled.split(/[?#]/);
    if (path.split('/').some(isDotSegment)) throw new ToolFault('An argument that is part of the path may not be "." or "..".');
    const url = new URL(filled);
    if (url.origin !== this.#shape.origin || segments(url) !== segments(this.#shape)) {
      throw new ToolFault('The arguments would change where the request goes.');
    }
    return url;
  }
}

/** Percent-encodes everything that could mean something in an address. Half characters become U+FFFD. */
export function encodeText(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function isDotSegment(segment: string): boolean {
  return /^(\.|%2e){1,2}$/i.test(segment);
}

function segments(url: URL): number {
  return url.pathname.split('/').length;
}
