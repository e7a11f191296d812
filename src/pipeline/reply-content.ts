import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ResponseCustomContent, StageDelta } from '#contract/chat/chunk.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';

/** Maximum number of open stages of one reply. */
const maxOpenStages = 10_000;
/** Maximum number of stages of one reply. */
const maxStages = 100_000;
const finalStatuses: ReadonlySet<unknown> = new Set(['completed', 'failed']);

interface ListNumbers {
  next: number;
  last: number | undefined;
}

/**
 * Completes the `custom_content` of one reply. Attachments, stages, and controls get an `index`, stages get a name and a
 * status, and an attachment has either `data` or `url`. Objects that need no change are returned unchanged.
 */
export class ReplyContent {
  readonly #lists = new Map<string, ListNumbers>();
  /** Whether a stage is open, by choice and index of the stage. */
  readonly #stages = new Map<string, boolean>();
  readonly #open = new Map<string, readonly [choice: number, index: number]>();

  get hasOpenStages(): boolean {
    return this.#open.size > 0;
  }

  /** Returns the completed content. Throws `UpstreamError` for too many stages. */
  toComplete(choice: number, content: ResponseCustomContent): ResponseCustomContent {
    const stages = this.#toList(`${choice}:stages`, content.stages, (stage, path, isNew) =>
      this.#toStage(stage, { choice, path, isNew }),
    );
    const attachments = this.#toList(`${choice}:attachments`, content.attachments, toAttachment);
    const controls = this.#toList(`${choice}:controls`, content.controls, (control) => control);
    if (stages === content.stages && attachments === content.attachments && controls === content.controls) return content;
    return {
      ...content,
      ...(stages !== undefined && { stages: stages as StageDelta[] }),
      ...(attachments !== undefined && { attachments: attachments as NonNullable<ResponseCustomContent['attachments']> }),
      ...(controls !== undefined && { controls: controls as NonNullable<ResponseCustomContent['controls']> }),
    };
  }

  /** Returns the open stages, of one choice or of all, by choice, and forgets that they are open. */
  takeOpenStages(choice?: number): (readonly [choice: number, index: number])[] {
    const openStages = [...this.#open].filter(([, [of]]) => choice === undefined || of === choice);
    for (const [key] of openStages) this.#close(key);
    return openStages.map(([, stage]) => stage);
  }

  #close(key: string): void {
    this.#open.delete(key);
    this.#stages.set(key, false);
  }

  #toStage(stage: JsonObject, { choice, path, isNew }: { choice: number; path: string; isNew: boolean }): JsonObject {
    const index = stage.index as number;
    const key = `${choice}:${index}`;
    const isFinal = finalStatuses.has(stage.status);
    if (isFinal) this.#close(key);
    else if (isNew) {
      this.#stages.set(key, true);
      this.#open.set(key, [choice, index]);
    }
    if (this.#open.size > maxOpenStages) throw tooMany(`${maxOpenStages} open stages`);
    if (this.#stages.size > maxStages) throw tooMany(`${maxStages} stages`);
    const attachments = this.#toList(`${path}:attachments`, stage.attachments, toAttachment);
    const hasName = !isNew || (typeof stage.name === 'string' && stage.name !== '');
    if (hasName && attachments === stage.attachments && (isFinal || stage.status === null)) return stage;
    return {
      ...stage,
      ...(!hasName && { name: `Stage ${index + 1}` }),
      ...(attachments !== undefined && { attachments }),
      status: isFinal ? stage.status : null,
    };
  }

  #toList(
    path: string,
    list: unknown,
    complete: (item: JsonObject, path: string, isNew: boolean) => JsonObject,
  ): readonly unknown[] | undefined {
    if (!Array.isArray(list)) return list as undefined;
    const completed = list.map((item: unknown) => {
      if (!isJsonObject(item)) return item;
      const [index, isNew] = this.#toIndex(path, item);
      return complete(item.index === index ? item : { ...item, index }, `${path}:${index}`, isNew);
    });
    return completed.every((item, index) => item === list[index]) ? list : completed;
  }

  #toIndex(path: string, item: JsonObject): readonly [index: number, isNew: boolean] {
    const numbers = this.#lists.get(path) ?? { next: 0, last: undefined };
    this.#lists.set(path, numbers);
    const isGiven = Number.isInteger(item.index) && (item.index as number) >= 0;
    const isStage = path.endsWith(':stages');
    // A stage chunk without an index and a name continues the stage before it.
    const continued = isStage && typeof item.name !== 'string' ? numbers.last : undefined;
    const index = isGiven ? (item.index as number) : (continued ?? numbers.next);
    numbers.last = index;
    numbers.next = Math.max(numbers.next, index + 1);
    const [choice] = path.split(':', 1);
    return [index, isStage && !this.#stages.has(`${choice}:${index}`)];
  }
}

/** An attachment with both `data` and `url` keeps `data`. Its `url` becomes the reference. */
function toAttachment(attachment: JsonObject): JsonObject {
  const { url, ...otherFields } = attachment;
  if (typeof url !== 'string' || url === '' || typeof otherFields.data !== 'string' || otherFields.data === '') return attachment;
  return otherFields.reference_url ? otherFields : { ...otherFields, reference_url: url };
}

function tooMany(what: string): UpstreamError {
  return new UpstreamError('broken', `The upstream sent more than ${what}.`);
}
