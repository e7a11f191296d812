import { isJsonObject } from '#base/json.ts';
import type { Delta, ResponseAttachment } from '#contract/chunk.ts';
import type { UrlCitation } from '#contract/responses/output-items.ts';

// Pattern bound: linear. A fence without an end matches to the end of the text, and a backtick ends the search of the one before.
const code = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g;
const marks = /\[\s*(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\s*\]|【\s*(\d{1,4})[^】\n]{0,30}】/g;
const mostCitations = 1_000;

type Source = Pick<ResponseAttachment, 'title' | 'url' | 'reference_url'>;

/** The sources of a text: where it has numbers in brackets for them, each bracket is a citation of its own. */
export class Citations {
  readonly #sources = new Map<number, Source>();

  note(attachments: readonly ResponseAttachment[]): void {
    for (const { index, title, url, reference_url } of attachments) {
      if (this.#sources.size >= mostCitations) return;
      this.#sources.set(index, { ...this.#sources.get(index), ...withoutAbsent({ title, url, reference_url }) });
    }
  }

  /** Numbers stand for the sources in their order; none if there are not as many of them. */
  in(text: string): UrlCitation[] {
    const sources = [...this.#sources].sort(([one], [other]) => one - other).map(([, source]) => source);
    const cited = sources.filter((source) => urlOf(source) !== undefined);
    if (cited.length === 0 || text === '') return [];
    const found = marksIn(text);
    const numbers = [...new Set(found.flatMap((mark) => mark.numbers))].sort((one, other) => one - other);
    if (numbers.length !== cited.length) return [];
    return found.flatMap(({ numbers: own, start_index, end_index }) =>
      own.map((number) => toCitation(cited[numbers.indexOf(number)] ?? {}, { start_index, end_index })),
    );
  }
}

/** What an upstream of OpenAI's chat completions cites. */
export function citationsOf({ annotations }: Delta): UrlCitation[] {
  return (Array.isArray(annotations) ? annotations : []).flatMap((annotation) => {
    const cited = isJsonObject(annotation) && annotation.type === 'url_citation' ? annotation.url_citation : undefined;
    if (!isJsonObject(cited) || typeof cited.url !== 'string') return [];
    const { url, title, start_index, end_index } = cited;
    if (!isIndex(start_index) || !isIndex(end_index)) return [];
    return [{ type: 'url_citation', url, title: typeof title === 'string' ? title : url, start_index, end_index }];
  });
}

function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function toCitation(source: Source, place: Pick<UrlCitation, 'start_index' | 'end_index'>): UrlCitation {
  const url = urlOf(source) ?? '';
  return { type: 'url_citation', url, title: source.title ?? url, ...place };
}

function urlOf({ url, reference_url }: Source): string | undefined {
  return reference_url || url || undefined;
}

interface Mark {
  readonly numbers: readonly number[];
  readonly start_index: number;
  readonly end_index: number;
}

/** None of what stands in code. */
function marksIn(text: string): Mark[] {
  const readable = text.replace(code, (span) => ' '.repeat(span.length));
  return [...readable.matchAll(marks)].slice(0, mostCitations).map((match) => {
    const numbers = (match[1] ?? match[2] ?? '').split(/[,;]/).map(Number);
    return { numbers, start_index: match.index, end_index: match.index + match[0].length };
  });
}

function withoutAbsent(source: { [Key in keyof Source]: Source[Key] | undefined }): Source {
  return Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined));
}
