import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ResponseCustomContent, StageDelta } from '#contract/chat/chunk.ts';
import { mapField, mapItems } from '#contract/schemas/normalize-request.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';

/** Maximum number of open stages of one reply. */
const maxOpenStages = 10_000;
/** Maximum number of stages of one reply. */
const maxStages = 100_000;
const finalStatuses: ReadonlySet<unknown> = new Set(['completed', 'failed']);

/** Numbers the items of one list by arrival order. */
class ListNumbers {
  #next = 0;
  #last: number | undefined;
  /** Numbers by the upstream's indexes. Created when an index first differs from the next number. */
  #numbers: Map<number, number> | undefined;

  /** Returns the number of an item with this index. Items with the same index are parts of one item. */
  toNumber(index: number): number {
    this.#last = this.#numbers?.get(index) ?? (this.#numbers === undefined && index < this.#next ? index : this.#add(index));
    return this.#last;
  }

  /** Returns the number of an item without an index. If `isContinued`, it is a part of the last item. */
  toNextNumber(isContinued: boolean): number {
    if (!isContinued || this.#last === undefined) this.#last = this.#add(this.#next);
    return this.#last;
  }

  #add(index: number): number {
    const number = this.#next;
    this.#next += 1;
    if (index !== number) this.#numbers ??= new Map(Array.from({ length: number }, (_, earlier) => [earlier, earlier]));
    this.#numbers?.set(index, number);
    return number;
  }
}

/**
 * Completes the `custom_content` of one reply. Numbers attachments, stages, and controls by arrival order, gives stages a name
 * and a status, and removes the `url` of attachments that also have `data`. Returns objects that need no change unchanged.
 */
export class ReplyContent {
  readonly #lists = new Map<string, ListNumbers>();
  /** Whether a stage is open, by choice and index of the stage. */
  readonly #stages = new Map<string, boolean>();
  /** Indexes of the open stages by choice. A choice without open stages has no entry. */
  readonly #open = new Map<number, Set<number>>();
  #openCount = 0;

  get hasOpenStages(): boolean {
    return this.#openCount > 0;
  }

  /** Returns the completed content. Throws `UpstreamError` for too many stages. */
  completeContent(choice: number, content: ResponseCustomContent): ResponseCustomContent {
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

  /** Marks the open stages of one choice or of all choices as closed, and returns each with its choice. */
  consumeOpenStages(choice?: number): (readonly [choice: number, index: number])[] {
    const choices = choice === undefined ? [...this.#open.keys()] : [choice];
    const openStages = choices.flatMap((key) => [...(this.#open.get(key) ?? [])].map((index) => [key, index] as const));
    for (const [key, index] of openStages) this.#close(key, index);
    return openStages;
  }

  #close(choice: number, index: number): void {
    this.#stages.set(`${choice}:${index}`, false);
    const indexes = this.#open.get(choice);
    if (indexes?.delete(index) !== true) return;
    this.#openCount -= 1;
    if (indexes.size === 0) this.#open.delete(choice);
  }

  #toStage(stage: JsonObject, { choice, path, isNew }: { choice: number; path: string; isNew: boolean }): JsonObject {
    const index = stage.index as number;
    const isFinal = finalStatuses.has(stage.status);
    if (isFinal) this.#close(choice, index);
    else if (isNew) {
      this.#stages.set(`${choice}:${index}`, true);
      this.#open.set(choice, (this.#open.get(choice) ?? new Set()).add(index));
      this.#openCount += 1;
    }
    if (this.#openCount > maxOpenStages) throw createSizeError(`${maxOpenStages} open stages`);
    if (this.#stages.size > maxStages) throw createSizeError(`${maxStages} stages`);
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
    return mapItems(list, (item) => {
      if (!isJsonObject(item)) return item;
      const [index, isNew] = this.#toIndex(path, item);
      return complete(item.index === index ? item : { ...item, index }, `${path}:${index}`, isNew);
    }) as readonly unknown[] | undefined;
  }

  #toIndex(path: string, item: JsonObject): readonly [index: number, isNew: boolean] {
    const numbers = this.#lists.get(path) ?? new ListNumbers();
    this.#lists.set(path, numbers);
    const hasIndex = Number.isInteger(item.index) && (item.index as number) >= 0;
    const isStage = path.endsWith(':stages');
    // A stage chunk without an index and without a name continues the stage before it.
    const index = hasIndex
      ? numbers.toNumber(item.index as number)
      : numbers.toNextNumber(isStage && typeof item.name !== 'string');
    const [choice] = path.split(':', 1);
    return [index, isStage && !this.#stages.has(`${choice}:${index}`)];
  }
}

/**
 * Numbers the attachments, stages, and controls of a complete message by their position, because each item of its lists is
 * separate. Returns the same object if all numbers are right.
 */
export function numberByPosition(content: ResponseCustomContent): ResponseCustomContent {
  const withStages = mapField(content, 'stages', (stages) =>
    numberItems(mapItems(stages, (stage) => mapField(stage, 'attachments', numberItems))),
  );
  return mapField(mapField(withStages, 'attachments', numberItems), 'controls', numberItems) as ResponseCustomContent;
}

function numberItems(list: unknown): unknown {
  return mapItems(list, (item, index) => (isJsonObject(item) && item.index !== index ? { ...item, index } : item));
}

/** If an attachment has both `data` and `url`, removes the `url`, which becomes the `reference_url` unless there is one. */
function toAttachment(attachment: JsonObject): JsonObject {
  const { url, ...otherFields } = attachment;
  if (typeof url !== 'string' || url === '' || typeof otherFields.data !== 'string' || otherFields.data === '') return attachment;
  return otherFields.reference_url ? otherFields : { ...otherFields, reference_url: url };
}

/** Returns the error for a reply that exceeds a limit. */
export function createSizeError(limit: string): UpstreamError {
  return new UpstreamError('broken', `The upstream sent more than ${limit}.`);
}
