import { isJsonObject, type JsonObject, toObject, tryParseJson } from '#base/json/json.ts';
import { fromLatin1 } from '#base/text/bytes.ts';
import type { Chunk, ChunkChoice, Delta, FinishReason, ResponseAttachment, Statistics, Usage } from '#contract/chat/chunk.ts';
import type { Frame } from '#contract/chat/frame.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { UnnumberedEvent } from '#contract/responses/events.ts';
import type { ResponseUsage, UrlCitation } from '#contract/responses/output-items.ts';
import { includeValues, type ResponsesRequest } from '#contract/responses/responses-request.ts';
import { toCount } from '#domain/usage/usage.ts';
import type { ResultItem } from '#services/responses/response-storage.ts';
import { ExtensionItems, RemoteItems } from './custom-items.ts';
import { createCallNotAllowedError } from './offered-tools.ts';
import { Output, type OutputOptions, type TextPosition } from './output.ts';
import type { ReplyEnd, ReplyReader } from './reply-reader.ts';
import type { HiddenContent } from './sealed-thoughts.ts';
import { type Piece, toPieces } from './to-pieces.ts';

/** Types of items that answer the request. A reply without such an item fails if a call was suppressed. */
const answerTypes: ReadonlySet<string> = new Set([
  ...['message', 'function_call', 'custom_tool_call', 'mcp_call', 'mcp_approval_request'],
]);

export interface ReaderOptions extends OutputOptions {
  readonly request: ResponsesRequest;
  /** ID of the deployment. The state that it returns belongs only to this deployment. */
  readonly deployment: string;
  /** Whether Parley runs tools of the request's MCP servers. */
  readonly runsRemoteTools: boolean;
}

/** Converts a chat completions reply to a response. */
export class TranslatedReplyReader implements ReplyReader {
  readonly #options: ReaderOptions;
  readonly #output: Output;
  readonly #extensions: ExtensionItems;
  #finish: FinishReason | undefined;
  #usage: Usage | undefined;
  #serviceTier: unknown;
  #statistics: Statistics | undefined;
  #state: JsonObject | undefined;
  /** Vendor signature of the text. */
  #textSignature: unknown;
  readonly #citations = new Citations();
  readonly #remote: RemoteItems | undefined;
  /** Whether the next text starts a new message. */
  #startsNewMessage = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#output = new Output(options);
    this.#remote = options.runsRemoteTools ? new RemoteItems(this.#output) : undefined;
    this.#extensions = new ExtensionItems(this.#output, new Set(options.request.include));
  }

  consume(frame: Frame): readonly UnnumberedEvent[] {
    for (const chunk of frame.chunks) this.#consumeChunk(chunk);
    return this.#output.drainEvents();
  }

  consumeText({ contentPieces: jsonFragments }: Frame): TextPosition | undefined {
    const textPosition = jsonFragments === undefined || this.#startsNewMessage ? undefined : this.#output.openText;
    if (textPosition === undefined || jsonFragments === undefined) return undefined;
    // Each fragment must be a valid JSON string body on its own, not only in combination with other fragments.
    const texts = tryParseJson(fromLatin1(`["${jsonFragments.join('","')}"]`));
    if (!Array.isArray(texts) || texts.length !== jsonFragments.length) return undefined;
    this.#output.addText(texts.join(''));
    return textPosition;
  }

  end(): ReplyEnd {
    const reason = this.#getIncompleteReason();
    if (reason === undefined && this.#output.hasIncompleteCall)
      throw new ParleyError('upstream_failed', 'The reply contains a tool call whose arguments are not a JSON object.');
    const { suppressedCall, items } = this.#output;
    if (suppressedCall !== undefined && !items.some(({ type }) => answerTypes.has(type)))
      throw createCallNotAllowedError(suppressedCall);
    const status = reason === undefined ? 'completed' : 'incomplete';
    this.#output.cite(this.#citations.findIn(this.#output.text));
    this.#output.close(status);
    this.#extensions.end();
    this.#putHiddenContent();
    const incomplete_details = reason === undefined ? null : { reason };
    return this.#buildEnd({ status, incomplete_details });
  }

  /** Drops the events that close items, because a client would run a call that is reported as finished. */
  endEarly(): ReplyEnd {
    this.#remote?.closeIncomplete();
    this.#output.close('incomplete');
    this.#output.drainEvents();
    return this.#buildEnd({});
  }

  #consumeChunk(chunk: Chunk): void {
    if (chunk.usage) this.#usage = chunk.usage;
    this.#serviceTier = chunk.service_tier ?? chunk.usage?.service_tier ?? this.#serviceTier;
    if (chunk.statistics) this.#statistics = chunk.statistics;
    for (const choice of chunk.choices) if ((choice.index ?? 0) === 0) this.#consumeChoice(choice);
  }

  #consumeChoice({ delta, finish_reason }: ChunkChoice): void {
    if (finish_reason) this.#finish = finish_reason;
    if (!isJsonObject(delta)) return;
    for (const piece of toPieces(delta)) this.#output.add(this.#startsNewMessage ? this.#removeBlankLines(piece) : piece);
    if (delta.annotations !== undefined) this.#output.cite(listCitations(delta));
    if (delta.extra_content !== undefined) this.#textSignature = delta.extra_content;
    const custom = delta.custom_content;
    if (!isJsonObject(custom)) return;
    if (isJsonObject(custom.state)) this.#state = custom.state;
    if (Array.isArray(custom.attachments)) this.#citations.addSources(custom.attachments);
    this.#extensions.add(custom);
    if (this.#remote === undefined || !Array.isArray(custom.remote)) return;
    for (const remote of custom.remote) this.#remote.add(remote);
    this.#startsNewMessage = true;
  }

  /** Removes the blank line before the first text of a new message. */
  #removeBlankLines(piece: Piece): Piece {
    if (piece.kind !== 'text') return piece;
    this.#startsNewMessage = false;
    return { ...piece, text: piece.text.replace(/^\n\n/, '') };
  }

  #getIncompleteReason(): 'max_output_tokens' | 'content_filter' | undefined {
    if (this.#finish === 'length') return 'max_output_tokens';
    return this.#finish === 'content_filter' ? 'content_filter' : undefined;
  }

  /** Adds state and signatures for the next turn as sealed items, unless they are stored with the response. */
  #putHiddenContent(): void {
    const { shouldStore, seal } = this.#options;
    if (shouldStore) return;
    if (this.#state !== undefined) this.#output.putSealed(seal({ state: this.#state }));
    const signatures = this.#getSignatures();
    if (signatures !== undefined) this.#output.putSealed(seal(signatures));
  }

  #getSignatures(): HiddenContent | undefined {
    const { callSignatures: calls } = this.#output;
    if (calls === undefined && this.#textSignature === undefined) return undefined;
    return { ...(calls && { calls }), ...(this.#textSignature !== undefined && { extra_content: this.#textSignature }) };
  }

  #buildEnd(fields: ReplyEnd['fields']): ReplyEnd {
    const { include = [] } = this.#options.request;
    const statistics = include.includes(includeValues.statistics) ? this.#statistics : undefined;
    const cost = typeof this.#usage?.cost === 'number' ? this.#usage.cost : undefined;
    const parley = { ...(statistics && { statistics }), ...(cost !== undefined && { cost }) };
    return {
      events: this.#output.drainEvents(),
      fields: {
        ...fields,
        output: this.#output.items,
        usage: this.#usage === undefined ? null : toResponseUsage(this.#usage),
        ...(typeof this.#serviceTier === 'string' && { service_tier: this.#serviceTier }),
        ...(Object.keys(parley).length > 0 && { parley }),
      },
      items: [...this.#output.storedItems, ...this.#listHiddenItems()],
    };
  }

  /** Returns state and signatures for the next turn as items that are stored with the response. */
  #listHiddenItems(): ResultItem[] {
    const { shouldStore, seal, deployment } = this.#options;
    if (!shouldStore) return [];
    const signatures = this.#getSignatures();
    return [
      ...(this.#state === undefined ? [] : [{ type: 'parley:state', state: this.#state, deployment }]),
      ...(signatures === undefined ? [] : [{ type: 'reasoning', summary: [], encrypted_content: seal(signatures) }]),
    ];
  }
}

// Pattern bound: linear. An unclosed fence matches to the end of the text. A search for the end of a single-backtick span stops at
// the next backtick, so that failed searches do not overlap.
const codeSpan = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g;
const citationMark = /\[\s*(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\s*\]|【\s*(\d{1,4})[^】\n]{0,30}】/g;
const maxCitations = 1_000;

type Source = Pick<ResponseAttachment, 'title' | 'url' | 'reference_url'>;

/** Sources of a text. Converts bracketed numbers outside of code to citations if they match the sources. */
class Citations {
  readonly #sources = new Map<number, Source>();

  addSources(attachments: readonly ResponseAttachment[]): void {
    for (const { index, title, url, reference_url } of attachments) {
      if (this.#sources.size >= maxCitations) return;
      this.#sources.set(index, { ...this.#sources.get(index), ...withoutAbsent({ title, url, reference_url }) });
    }
  }

  /** Assigns the sources with a URL to the distinct numbers in ascending order. Returns no citations if their counts differ. */
  findIn(text: string): UrlCitation[] {
    const sources = [...this.#sources].sort(([left], [right]) => left - right).map(([, source]) => source);
    const citableSources = sources.filter((source) => getUrl(source) !== undefined);
    if (citableSources.length === 0 || text === '') return [];
    const marks = findMarks(text);
    const numbers = [...new Set(marks.flatMap((mark) => mark.numbers))].sort((left, right) => left - right);
    if (numbers.length !== citableSources.length) return [];
    return marks.flatMap(({ numbers: markNumbers, start_index, end_index }) =>
      markNumbers.map((number) => toCitation(citableSources[numbers.indexOf(number)] ?? {}, { start_index, end_index })),
    );
  }
}

/** Returns the citations that an upstream reports in the OpenAI format. */
function listCitations({ annotations }: Delta): UrlCitation[] {
  return (Array.isArray(annotations) ? annotations : []).flatMap((annotation) => {
    const citation = isJsonObject(annotation) && annotation.type === 'url_citation' ? annotation.url_citation : undefined;
    if (!isJsonObject(citation) || typeof citation.url !== 'string') return [];
    const { url, title, start_index, end_index } = citation;
    if (!isIndex(start_index) || !isIndex(end_index)) return [];
    return [{ type: 'url_citation', url, title: typeof title === 'string' ? title : url, start_index, end_index }];
  });
}

function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function toCitation(source: Source, range: Pick<UrlCitation, 'start_index' | 'end_index'>): UrlCitation {
  const url = getUrl(source) ?? '';
  return { type: 'url_citation', url, title: source.title ?? url, ...range };
}

function getUrl({ url, reference_url }: Source): string | undefined {
  return reference_url || url || undefined;
}

interface Mark {
  readonly numbers: readonly number[];
  readonly start_index: number;
  readonly end_index: number;
}

/** Returns the citation marks outside of code. */
function findMarks(text: string): Mark[] {
  const textWithoutCode = text.replace(codeSpan, (span) => ' '.repeat(span.length));
  return [...textWithoutCode.matchAll(citationMark)].slice(0, maxCitations).map((match) => {
    const numbers = (match[1] ?? match[2] ?? '').split(/[,;]/).map(Number);
    return { numbers, start_index: match.index, end_index: match.index + match[0].length };
  });
}

function withoutAbsent(source: { [Key in keyof Source]: Source[Key] | undefined }): Source {
  return Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined));
}

/** Converts usage to the Responses API. */
function toResponseUsage({ prompt_tokens, completion_tokens, total_tokens, ...otherUsage }: Usage): ResponseUsage {
  const prompt = toObject(otherUsage.prompt_tokens_details);
  const completion = toObject(otherUsage.completion_tokens_details);
  return {
    input_tokens: prompt_tokens,
    input_tokens_details: {
      cached_tokens: toCount(prompt.cached_tokens),
      cache_write_tokens: toCount(prompt.cache_write_tokens),
    },
    output_tokens: completion_tokens,
    output_tokens_details: { reasoning_tokens: toCount(completion.reasoning_tokens) },
    total_tokens,
  };
}
