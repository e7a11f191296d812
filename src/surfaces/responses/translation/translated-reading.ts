import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { fromLatin1 } from '#base/text/bytes.ts';
import type { Chunk, ChunkChoice, Delta, FinishReason, ResponseAttachment, Statistics, Usage } from '#contract/chat/chunk.ts';
import type { Frame } from '#contract/chat/frame.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { UnnumberedEvent } from '#contract/responses/events.ts';
import type { ResponseUsage, UrlCitation } from '#contract/responses/output-items.ts';
import { includables, type ResponsesRequest } from '#contract/responses/responses-request.ts';
import { toCount } from '#domain/usage/usage.ts';
import type { ResultItem } from '#services/responses/response-storage.ts';
import { callNotAllowed } from './allowed-calls.ts';
import { ExtensionItems } from './extension-items.ts';
import { Output, type OutputFacts, type TextPlace } from './output.ts';
import type { ReplyEnd, ReplyReader } from './reading.ts';
import { RemoteItems } from './remote-items.ts';
import type { Thoughts } from './sealed-thoughts.ts';
import { type Piece, toPieces } from './to-pieces.ts';

/** Types of items that answer the request. A reply whose only answer was suppressed fails. */
const answers: ReadonlySet<string> = new Set([
  'message',
  'function_call',
  'custom_tool_call',
  'mcp_call',
  'mcp_approval_request',
]);

export interface ReadingFacts extends OutputFacts {
  readonly request: ResponsesRequest;
  /** ID of the deployment. The state that it returns belongs only to this deployment. */
  readonly deployment: string;
  /** Whether Parley runs tools of the request's MCP servers. */
  readonly runsRemoteTools: boolean;
}

/** Converts a chat completions reply to a response. */
export class TranslatedReading implements ReplyReader {
  readonly #facts: ReadingFacts;
  readonly #output: Output;
  readonly #extensions: ExtensionItems;
  #finish: FinishReason | undefined;
  #usage: Usage | undefined;
  #statistics: Statistics | undefined;
  #state: JsonObject | undefined;
  #signedText: unknown;
  readonly #citations = new Citations();
  readonly #remote: RemoteItems | undefined;
  /** Whether the next text starts a new message. */
  #isParted = false;

  constructor(facts: ReadingFacts) {
    this.#facts = facts;
    this.#output = new Output(facts);
    this.#remote = facts.runsRemoteTools ? new RemoteItems(this.#output) : undefined;
    this.#extensions = new ExtensionItems(this.#output, new Set(facts.request.include));
  }

  consume(frame: Frame): readonly UnnumberedEvent[] {
    for (const chunk of frame.chunks) this.#takeChunk(chunk);
    return this.#output.takeEvents();
  }

  takeText({ contentPieces: pieces }: Frame): TextPlace | undefined {
    const textPosition = pieces === undefined || this.#isParted ? undefined : this.#output.openText;
    if (textPosition === undefined || pieces === undefined) return undefined;
    // Each piece must be a valid JSON string body on its own, not only in combination with other pieces.
    const texts = tryParseJson(fromLatin1(`["${pieces.join('","')}"]`));
    if (!Array.isArray(texts) || texts.length !== pieces.length) return undefined;
    this.#output.addText(texts.join(''));
    return textPosition;
  }

  end(): ReplyEnd {
    const reason = this.#incompleteReason();
    if (reason === undefined && this.#output.hasHalfCall)
      throw new ParleyError('upstream_failed', 'The reply contains a tool call whose arguments are not a JSON object.');
    const { suppressedCall, items } = this.#output;
    if (suppressedCall !== undefined && !items.some(({ type }) => answers.has(type))) throw callNotAllowed(suppressedCall);
    const status = reason === undefined ? 'completed' : 'incomplete';
    this.#output.cite(this.#citations.in(this.#output.text));
    this.#output.close(status);
    this.#extensions.end();
    this.#putCarried();
    const incomplete_details = reason === undefined ? null : { reason };
    return this.#ending({ status, incomplete_details });
  }

  /** Drops the events of incomplete items, because a client would run a call that is reported as finished. */
  breakOff(): ReplyEnd {
    this.#remote?.closeIncomplete();
    this.#output.close('incomplete');
    this.#output.takeEvents();
    return this.#ending({});
  }

  #takeChunk(chunk: Chunk): void {
    if (chunk.usage) this.#usage = chunk.usage;
    if (chunk.statistics) this.#statistics = chunk.statistics;
    for (const choice of chunk.choices) if ((choice.index ?? 0) === 0) this.#takeChoice(choice);
  }

  #takeChoice({ delta, finish_reason }: ChunkChoice): void {
    if (finish_reason) this.#finish = finish_reason;
    if (!isJsonObject(delta)) return;
    for (const piece of toPieces(delta)) this.#output.add(this.#isParted ? this.#first(piece) : piece);
    if (delta.annotations !== undefined) this.#output.cite(listCitations(delta));
    if (delta.extra_content !== undefined) this.#signedText = delta.extra_content;
    const custom = delta.custom_content;
    if (!isJsonObject(custom)) return;
    if (isJsonObject(custom.state)) this.#state = custom.state;
    if (Array.isArray(custom.attachments)) this.#citations.note(custom.attachments);
    this.#extensions.add(custom);
    if (this.#remote === undefined || !Array.isArray(custom.remote)) return;
    for (const remote of custom.remote) this.#remote.add(remote);
    this.#isParted = true;
  }

  /** Removes the empty lines before the first text of a new message. */
  #first(piece: Piece): Piece {
    if (piece.kind !== 'text') return piece;
    this.#isParted = false;
    return { ...piece, text: piece.text.replace(/^\n\n/, '') };
  }

  #incompleteReason(): 'max_output_tokens' | 'content_filter' | undefined {
    if (this.#finish === 'length') return 'max_output_tokens';
    return this.#finish === 'content_filter' ? 'content_filter' : undefined;
  }

  /** Adds the hidden content for the next turn as sealed items, unless the stored response contains it. */
  #putCarried(): void {
    const { isStored, seal } = this.#facts;
    if (isStored) return;
    if (this.#state !== undefined) this.#output.putSealed(seal({ state: this.#state }));
    const signed = this.#signed();
    if (signed !== undefined) this.#output.putSealed(seal(signed));
  }

  #signed(): Thoughts | undefined {
    const { signedCalls: calls } = this.#output;
    if (calls === undefined && this.#signedText === undefined) return undefined;
    return { ...(calls && { calls }), ...(this.#signedText !== undefined && { extra_content: this.#signedText }) };
  }

  #ending(fields: ReplyEnd['fields']): ReplyEnd {
    const { include = [] } = this.#facts.request;
    const statistics = include.includes(includables.statistics) ? this.#statistics : undefined;
    const cost = typeof this.#usage?.cost === 'number' ? this.#usage.cost : undefined;
    const parley = { ...(statistics && { statistics }), ...(cost !== undefined && { cost }) };
    return {
      events: this.#output.takeEvents(),
      fields: {
        ...fields,
        output: this.#output.items,
        usage: this.#usage === undefined ? null : toResponseUsage(this.#usage),
        ...(Object.keys(parley).length > 0 && { parley }),
      },
      items: [...this.#output.storedItems, ...this.#carriedItems()],
    };
  }

  /** Returns hidden items that are stored with the response. */
  #carriedItems(): ResultItem[] {
    const { isStored, seal, deployment } = this.#facts;
    if (!isStored) return [];
    const signed = this.#signed();
    return [
      ...(this.#state === undefined ? [] : [{ type: 'parley:state', state: this.#state, deployment }]),
      ...(signed === undefined ? [] : [{ type: 'reasoning', summary: [], encrypted_content: seal(signed) }]),
    ];
  }
}

// Pattern bound: linear. An unclosed fence matches to the end of the text, and each backtick ends the search that the previous
// one started.
const code = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g;
const marks = /\[\s*(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\s*\]|【\s*(\d{1,4})[^】\n]{0,30}】/g;
const maxCitations = 1_000;

type Source = Pick<ResponseAttachment, 'title' | 'url' | 'reference_url'>;

/** Sources of a text. Each number in brackets becomes a citation. */
class Citations {
  readonly #sources = new Map<number, Source>();

  note(attachments: readonly ResponseAttachment[]): void {
    for (const { index, title, url, reference_url } of attachments) {
      if (this.#sources.size >= maxCitations) return;
      this.#sources.set(index, { ...this.#sources.get(index), ...withoutAbsent({ title, url, reference_url }) });
    }
  }

  /** Assigns the sources to the numbers in ascending order. Returns no citations if the counts differ. */
  in(text: string): UrlCitation[] {
    const sources = [...this.#sources].sort(([left], [right]) => left - right).map(([, source]) => source);
    const cited = sources.filter((source) => getUrl(source) !== undefined);
    if (cited.length === 0 || text === '') return [];
    const marks = findMarks(text);
    const numbers = [...new Set(marks.flatMap((mark) => mark.numbers))].sort((left, right) => left - right);
    if (numbers.length !== cited.length) return [];
    return marks.flatMap(({ numbers: ownNumbers, start_index, end_index }) =>
      ownNumbers.map((number) => toCitation(cited[numbers.indexOf(number)] ?? {}, { start_index, end_index })),
    );
  }
}

/** Returns the citations of an OpenAI chat completions upstream. */
function listCitations({ annotations }: Delta): UrlCitation[] {
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
  const readable = text.replace(code, (span) => ' '.repeat(span.length));
  return [...readable.matchAll(marks)].slice(0, maxCitations).map((match) => {
    const numbers = (match[1] ?? match[2] ?? '').split(/[,;]/).map(Number);
    return { numbers, start_index: match.index, end_index: match.index + match[0].length };
  });
}

function withoutAbsent(source: { [Key in keyof Source]: Source[Key] | undefined }): Source {
  return Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined));
}

/** Converts usage to the Responses API. */
function toResponseUsage({ prompt_tokens, completion_tokens, total_tokens, ...otherUsage }: Usage): ResponseUsage {
  const prompt = isJsonObject(otherUsage.prompt_tokens_details) ? otherUsage.prompt_tokens_details : {};
  const completion = isJsonObject(otherUsage.completion_tokens_details) ? otherUsage.completion_tokens_details : {};
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
