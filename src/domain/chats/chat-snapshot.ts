import { isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import { toChatTitle } from '#contract/page/turn-texts.ts';
import { getAppDataPath, publicBucket, sampleBucket, toBucket } from '../files/bucket.ts';
import { filePrefix, parseReference } from '../files/resource-location.ts';
import type { ChatSnapshot, SharedFile } from './chat-share.ts';
import type { StoredChat } from './chat-store.ts';

/** Returns the ETag of a file of the owner, or undefined if the file does not exist. */
type FindEtag = (path: string) => Promise<string | undefined>;

/** Checks of the shared fields. Visitors can rely on the checked types. */
type FieldChecks = Readonly<Record<string, (value: unknown) => boolean>>;

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isControl = (value: unknown): boolean =>
  isJsonObject(value) && isText(value.label) && (value.value === undefined || isJsonObject(value.value));
const questionFields: FieldChecks = { filled: (value) => Array.isArray(value) && value.every(isText), control: isControl };
const isTrue = (value: unknown): boolean => value === true;
const replyFields: FieldChecks = {
  endedAtMs: isNumber,
  deployment: isText,
  deploymentName: isText,
  finish: isText,
  isEdited: isTrue,
};
const attachmentFields: FieldChecks = { index: isNumber, type: isText, title: isText, data: isText };
const endStates: readonly unknown[] = ['done', 'stopped', 'failed', 'interrupted'];

/**
 * Returns the shared copy of a chat: the visible branch, with only the fields that are listed here. Steps, thoughts,
 * application state, settings, ratings, and tags are not shared.
 */
export async function toChatSnapshot(chat: StoredChat, subject: string, findEtag: FindEtag): Promise<ChatSnapshot> {
  const { head, extra, turns } = chat;
  const files = new SharedFiles(toBucket(subject), findEtag);
  const shared: JsonObject[] = [];
  const visibleTurns = selectVisibleTurns(turns, extra.shown);
  for (const turn of visibleTurns) if (turn.kind === 'question') files.addAttached(turn.attachments);
  for (const turn of visibleTurns) shared.push(await toSharedTurn(turn, files));
  const { title = '', deployment = '' } = head.fields;
  // A title from the first question is created again, because the old text of an edited question must not be shared.
  const titleQuestion = turns.find((turn) => turn.parent === '' && toChatTitle(turn) === title);
  const sharedTitle = titleQuestion === undefined ? String(title) : toChatTitle(shared[0] ?? {});
  return { title: sharedTitle, deployment: String(deployment), turns: shared, files: files.all };
}

/**
 * Returns the path from the first turn. At each turn it follows the selected child, or the latest one. Each turn has one
 * parent, so the path has no cycles.
 */
function selectVisibleTurns(turns: readonly JsonObject[], selection: unknown): readonly JsonObject[] {
  const selectedByParent = toObject(selection);
  const byParent = Map.groupBy(turns, ({ parent }) => String(parent));
  const path: JsonObject[] = [];
  for (let parentId: unknown = ''; ; ) {
    const children = byParent.get(String(parentId)) ?? [];
    const next = children.find(({ id }) => id === selectedByParent[String(parentId)]) ?? children.at(-1);
    if (next === undefined) return path;
    path.push(next);
    parentId = next.id;
  }
}

async function toSharedTurn(turn: JsonObject, files: SharedFiles): Promise<JsonObject> {
  const { id, parent, kind, atMs, text } = turn;
  const base = { id, parent, kind, atMs, text };
  if (kind === 'question')
    return { ...base, ...pickFields(turn, questionFields), attachments: await files.toAttachments(turn.attachments, undefined) };
  const custom = toObject(turn.custom);
  const attachments = await files.toAttachments(custom.attachments, turn.deployment);
  return {
    ...{ ...base, deployment: '' },
    ...pickFields(turn, replyFields),
    // A reply in progress is shared up to this point.
    state: endStates.includes(turn.state) ? turn.state : 'interrupted',
    custom: attachments.length > 0 ? { attachments } : {},
    stageTimes: {},
  };
}

/**
 * Numbers the owner's files in the order in which they first occur. Only two kinds of files are shared: files that the user
 * attached, and files in the data folder of the application that answered. A reply may reference any other file, but must not
 * share it with visitors.
 */
class SharedFiles {
  readonly all: SharedFile[] = [];
  readonly #bucket: string;
  readonly #findEtag: FindEtag;
  /** Paths of the files that the user attached to questions. */
  readonly #attached = new Set<string>();
  readonly #fileNumbers = new Map<string, number | undefined>();

  constructor(bucket: string, findEtag: FindEtag) {
    this.#bucket = bucket;
    this.#findEtag = findEtag;
  }

  addAttached(attachments: unknown): void {
    for (const attachment of Array.isArray(attachments) ? attachments : []) {
      const location =
        isJsonObject(attachment) && typeof attachment.url === 'string' ? parseReference(attachment.url) : undefined;
      if (location?.bucket === this.#bucket) this.#attached.add(location.path);
    }
  }

  /** `deployment` is the deployment that answered, if the turn is a reply. */
  async toAttachments(input: unknown, deployment: unknown): Promise<readonly JsonObject[]> {
    const attachments: JsonObject[] = [];
    for (const item of Array.isArray(input) ? input : []) {
      if (!isJsonObject(item)) continue;
      const source = item.reference_url;
      attachments.push({
        ...pickFields(item, attachmentFields),
        ...(await this.#toContent(item.url, deployment)),
        ...(typeof source === 'string' && isWebUrl(source) && { reference_url: source }),
      });
    }
    return attachments;
  }

  /** Returns `url` if it works for every visitor, `file` for an existing file of the owner, or an empty object. */
  async #toContent(url: unknown, deployment: unknown): Promise<JsonObject> {
    if (typeof url !== 'string') return {};
    if (isWebUrl(url) || /^data:/i.test(url)) return { url };
    const location = url.startsWith(filePrefix) ? parseReference(url) : undefined;
    if (location === undefined) return {};
    if (location.bucket === publicBucket || location.bucket === sampleBucket) return { url };
    const file =
      location.bucket === this.#bucket && this.#mayShare(location.path, deployment)
        ? await this.#getNumber(location.path)
        : undefined;
    return file === undefined ? {} : { file };
  }

  #mayShare(path: string, deployment: unknown): boolean {
    if (this.#attached.has(path)) return true;
    return typeof deployment === 'string' && deployment !== '' && path.startsWith(`${getAppDataPath(deployment)}/`);
  }

  async #getNumber(path: string): Promise<number | undefined> {
    if (!this.#fileNumbers.has(path)) {
      const etag = await this.#findEtag(path);
      this.#fileNumbers.set(path, etag === undefined ? undefined : this.all.push({ path, etag }) - 1);
    }
    return this.#fileNumbers.get(path);
  }
}

function isWebUrl(url: string): boolean {
  return /^https?:\/\//i.test(url);
}

function pickFields(source: JsonObject, checks: FieldChecks): JsonObject {
  return Object.fromEntries(
    Object.entries(source).filter(([name, value]) => Object.hasOwn(checks, name) && checks[name]?.(value)),
  );
}

/** Returns the descriptions of the files in a snapshot, in the order of their numbers. */
export function describeFiles({ turns, files }: ChatSnapshot): readonly JsonObject[] {
  const attachments = turns.flatMap((turn) => {
    const { attachments: list } = turn.kind === 'question' ? turn : (turn.custom as JsonObject);
    const origin = turn.kind === 'question' ? 'question' : 'reply';
    return (Array.isArray(list) ? (list as JsonObject[]) : []).map((item) => ({ ...item, from: origin }) as JsonObject);
  });
  return files.map(({ path }, index) => {
    const { title, from: origin = 'question' } = attachments.find(({ file }) => file === index) ?? {};
    const fileName = path.slice(path.lastIndexOf('/') + 1);
    return { path, title: typeof title === 'string' && title !== '' ? title : fileName, from: origin };
  });
}
