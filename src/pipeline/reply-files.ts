import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { DeferredHandle } from '#base/stream/deferred-handle.ts';
import type { Sink } from '#base/stream/sink.ts';
import { toLatin1 } from '#base/text/bytes.ts';
import type { RawChunk } from '#contract/chat/chunk.ts';
import { RawFrame } from '#contract/chat/frame.ts';
import { mapField, mapItems } from '#contract/schemas/normalize-request.ts';
import { isFolder, type ResourceLocation, resolveReference, toUrl } from '#domain/files/resource-location.ts';
import { canRead, isApplicationDocument } from '#domain/files/resource-rights.ts';
import type { PreparedCall } from './prepared-call.ts';

type ReplyCall = Pick<PreparedCall, 'target' | 'account'>;

/** Called at the end of a reply with the number of file references that were removed from it. */
export type OnRemovedReferences = (deployment: string, count: number) => void;

/** Maximum number of attachment fields whose text is stored, because the next chunk may continue it. */
const maxOpenFields = 1_000;
/** Maximum number of characters held from the text of one such field. */
const maxOpenChars = 8_193;
/**
 * Maximum number of characters of references that are parsed for one reply. Each new piece of a field is parsed together with the earlier ones.
 */
const maxParsedChars = 4 * 1024 * 1024;

/**
 * The first step of every chat reply. It removes references to stored resources that the deployment may not read. Otherwise a
 * client would send them back with the conversation and grant access to them. A caller with a per-request key gets the right to
 * read the files that remain. A frame with such files waits until all nodes have that right, or until storing it fails. Until
 * then, the source of the reply is paused. Therefore the source must be passed to `follow`.
 */
export class ReplyFiles extends DeferredHandle implements Sink<RawFrame> {
  readonly #call: ReplyCall;
  readonly #sink: Sink<RawFrame>;
  readonly #recordRemoved: OnRemovedReferences;
  #references: ReplyReferences | undefined;
  /** Calls of the sink that are deferred while a right is being stored. */
  #waiting: (() => void)[] | undefined;
  #isPausedByReader = false;

  constructor(call: ReplyCall, sink: Sink<RawFrame>, recordRemoved: OnRemovedReferences) {
    super();
    this.#call = call;
    this.#sink = sink;
    this.#recordRemoved = recordRemoved;
  }

  push(frame: RawFrame): void {
    if (this.#waiting !== undefined) this.#waiting.push(() => this.push(frame));
    else if (frame.textBytes === undefined && frame.native === undefined && hasCustomContent(frame)) this.#check(frame);
    else this.#sink.push(frame);
  }

  end(): void {
    if (this.#waiting !== undefined) return void this.#waiting.push(() => this.end());
    this.#reportRemoved();
    this.#sink.end();
  }

  fail(error: unknown): void {
    if (this.#waiting !== undefined) return void this.#waiting.push(() => this.fail(error));
    this.#reportRemoved();
    this.#sink.fail(error);
  }

  override pause(): void {
    this.#isPausedByReader = true;
    super.pause();
  }

  override resume(): void {
    this.#isPausedByReader = false;
    if (this.#waiting === undefined) super.resume();
  }

  #reportRemoved(): void {
    const removed = this.#references?.removed ?? 0;
    if (removed > 0) this.#recordRemoved(this.#call.target.deployment.id, removed);
  }

  #check(frame: RawFrame): void {
    this.#references ??= new ReplyReferences(this.#call);
    const checked = this.#references.toReadable(frame);
    const attached = this.#references.consumeAttached();
    const { chain } = this.#call.target.call.caller;
    if (attached.length === 0 || chain === null) return this.#sink.push(checked);
    this.#waiting = [];
    super.pause();
    const flush = (): void => {
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      this.#sink.push(checked);
      for (const step of waiting) step();
      if (!this.#isPausedByReader) this.resume();
    };
    // A caller that cannot be given a file still gets the reply. Reading the file is rejected.
    chain.rights.change({ attached }).then(flush, flush);
  }
}

/**
 * Returns whether any choice of a frame has custom content. Applications can send content of any form, so each level is checked.
 */
function hasCustomContent(frame: RawFrame): boolean {
  const { completion } = frame;
  if (completion !== undefined)
    return completion.choices.some(({ message }) => isJsonObject(message) && isJsonObject(message.custom_content));
  return frame.chunks.some(({ choices }) =>
    choices.some(({ delta }) => isJsonObject(delta) && isJsonObject(delta.custom_content)),
  );
}

/** Checks the references of one reply. */
class ReplyReferences {
  removed = 0;
  readonly #call: ReplyCall;
  /** Text so far of the fields that a later chunk may continue, by choice, stage, attachment index, and field. */
  readonly #openFields = new Map<string, string>();
  #attached = new Set<string>();
  #parsedChars = 0;

  constructor(call: ReplyCall) {
    this.#call = call;
  }

  /** Returns the files that frames attached since the last call and that the caller may not read yet. */
  consumeAttached(): readonly string[] {
    const attached = [...this.#attached];
    if (attached.length > 0) this.#attached = new Set();
    return attached;
  }

  /** Returns the frame without references that the deployment may not read, or the same frame if it has none. */
  toReadable(frame: RawFrame): RawFrame {
    const { completion } = frame;
    if (completion !== undefined) {
      const readable = this.#toReadableReply(completion, 'message');
      return readable === completion ? frame : RawFrame.ofRawCompletion(readable, toLatin1(JSON.stringify(readable)));
    }
    const chunks = frame.chunks.map((chunk) => this.#toReadableReply(chunk, 'delta'));
    return chunks.every((chunk, index) => chunk === frame.chunks[index]) ? frame : RawFrame.ofRawChunks(...chunks);
  }

  #toReadableReply(reply: RawChunk, name: 'message' | 'delta'): RawChunk {
    const toReadableChoice = (choice: unknown, position: number): unknown =>
      mapField(choice, name, (message) =>
        mapField(message, 'custom_content', (custom) => this.#toReadableContent(custom, getKey(choice, position))),
      );
    return mapField(reply, 'choices', (choices) => mapItems(choices, toReadableChoice)) as RawChunk;
  }

  #toReadableContent(custom: unknown, key: string): unknown {
    const toReadableStage = (stage: unknown, position: number): unknown =>
      this.#withReadableAttachments(stage, `${key} ${getKey(stage, position)}`);
    return mapField(this.#withReadableAttachments(custom, key), 'stages', (stages) => mapItems(stages, toReadableStage));
  }

  #withReadableAttachments(holder: unknown, key: string): unknown {
    return mapField(holder, 'attachments', (attachments) => {
      const readable = mapItems(attachments, (attachment) =>
        isJsonObject(attachment) ? this.#toReadableAttachment(attachment, key) : attachment,
      );
      return Array.isArray(readable) && readable !== attachments ? readable.filter((item) => item !== undefined) : attachments;
    });
  }

  /** Returns undefined if no data and no reference of the attachment remain. */
  #toReadableAttachment(attachment: JsonObject, key: string): JsonObject | undefined {
    const { url, reference_url: reference, index, data } = attachment;
    const keyPrefix = typeof index === 'number' ? `${key} ${index}` : undefined;
    const isUrlAllowed = typeof url !== 'string' || this.#mayPass(url, keyPrefix && `${keyPrefix} url`);
    const isReferenceAllowed = typeof reference !== 'string' || this.#mayPass(reference, keyPrefix && `${keyPrefix} reference`);
    if (isUrlAllowed && isReferenceAllowed) return attachment;
    const { url: _url, reference_url: _reference, ...otherFields } = attachment;
    const result = {
      ...otherFields,
      ...(isUrlAllowed && url !== undefined && { url }),
      ...(isReferenceAllowed && reference !== undefined && { reference_url: reference }),
    };
    return data === undefined && result.url === undefined && result.reference_url === undefined ? undefined : result;
  }

  /** Returns whether a text may pass as the next piece of a field. Readers join the pieces with the same index. */
  #mayPass(text: string, key: string | undefined): boolean {
    if (text === '') return true;
    const earlierText = key === undefined ? '' : (this.#openFields.get(key) ?? '');
    this.#parsedChars += earlierText.length + text.length;
    const isFull = key !== undefined && earlierText === '' && this.#openFields.size >= maxOpenFields;
    if (isFull || this.#parsedChars > maxParsedChars || !this.#mayReference(earlierText + text)) {
      this.removed += 1;
      return false;
    }
    if (key !== undefined) this.#openFields.set(key, (earlierText + text).slice(0, maxOpenChars));
    return true;
  }

  /** Returns whether the reply may contain a reference. Records files that the caller must get access to. */
  #mayReference(url: string): boolean {
    const location = resolveReference(url);
    if (location === 'elsewhere') return true;
    if (location === 'malformed') return false;
    const { target, account } = this.#call;
    if (!canRead(account.caller, location)) return isApplicationDocument(target.deployment, location);
    this.#attach(location);
    return true;
  }

  #attach(location: ResourceLocation): void {
    const { caller } = this.#call.target.call;
    if (location.kind === 'files' && !isFolder(location) && caller.chain !== null && !canRead(caller, location))
      this.#attached.add(toUrl(location));
  }
}

/** Returns the index of an item, or its position if it has none. */
function getKey(item: unknown, position: number): string {
  return String(isJsonObject(item) && typeof item.index === 'number' ? item.index : position);
}
