import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { appDataPath, bucketOf, publicBucket, sampleBucket } from '../files/bucket.ts';
import { fileScheme, fromReference } from '../files/file-references.ts';
import type { ChatSnapshot, SharedFile } from './chat-share.ts';
import type { StoredChat } from './chat-store.ts';

/** The ETag of a file of the owner; undefined if there is none. */
type LookUp = (path: string) => Promise<string | undefined>;

/** Fields that are shared, and how those who open it may rely on them. */
type Forms = Readonly<Record<string, (value: unknown) => boolean>>;

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isControl = (value: unknown): boolean =>
  isJsonObject(value) && isText(value.label) && (value.value === undefined || isJsonObject(value.value));
const ofQuestions: Forms = { filled: (value) => Array.isArray(value) && value.every(isText), control: isControl };
const isYes = (value: unknown): boolean => value === true;
const ofReplies: Forms = { endedAtMs: isNumber, deployment: isText, finish: isText, isEdited: isYes };
const ofAttachments: Forms = { index: isNumber, type: isText, title: isText, data: isText };
const endings: readonly unknown[] = ['done', 'stopped', 'failed', 'interrupted'];

/**
 * What is shared of a chat: the branch that is shown, and of its turns only what is named here. Steps, thoughts, the state of
 * applications, settings, ratings and tags stay with the owner.
 */
export async function toSnapshot({ head, rest, turns }: StoredChat, subject: string, lookUp: LookUp): Promise<ChatSnapshot> {
  const files = new SharedFiles(bucketOf(subject), lookUp);
  const shared: JsonObject[] = [];
  const shown = shownOf(turns, rest.shown);
  for (const turn of shown) if (turn.kind === 'question') files.noteAttached(turn.attachments);
  for (const turn of shown) shared.push(await toSharedTurn(turn, files));
  const { title = '', deployment = '' } = head.fields;
  return { title: String(title), deployment: String(deployment), turns: shared, files: files.all };
}

/** From the first on the one that was chosen, else the last one made; each is behind one other, so there is no way round. */
function shownOf(turns: readonly JsonObject[], shown: unknown): readonly JsonObject[] {
  const chosen = isJsonObject(shown) ? shown : {};
  const byParent = Map.groupBy(turns, ({ parent }) => String(parent));
  const path: JsonObject[] = [];
  for (let at: unknown = ''; ; ) {
    const there = byParent.get(String(at)) ?? [];
    const next = there.find(({ id }) => id === chosen[String(at)]) ?? there.at(-1);
    if (next === undefined) return path;
    path.push(next);
    at = next.id;
  }
}

async function toSharedTurn(turn: JsonObject, files: SharedFiles): Promise<JsonObject> {
  const { id, parent, kind, atMs, text } = turn;
  const said = { id, parent, kind, atMs, text };
  if (kind === 'question')
    return { ...said, ...picked(turn, ofQuestions), attachments: await files.toAttachments(turn.attachments, undefined) };
  const custom = isJsonObject(turn.custom) ? turn.custom : {};
  const attachments = await files.toAttachments(custom.attachments, turn.deployment);
  return {
    ...said,
    ...picked(turn, ofReplies),
    // What is still coming is shared as far as it came.
    state: endings.includes(turn.state) ? turn.state : 'interrupted',
    custom: attachments.length > 0 ? { attachments } : {},
    stageTimes: {},
  };
}

/**
 * Numbers files of the owner as they are met. Shared are those that the user attached, and those that the application which answered keeps
 * for the user. A reply may name any other file, and must not share it with the recipients of the link.
 */
class SharedFiles {
  readonly all: SharedFile[] = [];
  readonly #bucket: string;
  readonly #lookUp: LookUp;
  /** Paths of the files that the user attached to questions. */
  readonly #attached = new Set<string>();
  readonly #known = new Map<string, number | undefined>();

  constructor(bucket: string, lookUp: LookUp) {
    this.#bucket = bucket;
    this.#lookUp = lookUp;
  }

  noteAttached(given: unknown): void {
    for (const each of Array.isArray(given) ? given : []) {
      const place = isJsonObject(each) && typeof each.url === 'string' ? fromReference(each.url) : undefined;
      if (place?.bucket === this.#bucket) this.#attached.add(place.path);
    }
  }

  /** `deployment` is the deployment that answered, if the turn is a reply. */
  async toAttachments(given: unknown, deployment: unknown): Promise<readonly JsonObject[]> {
    const attachments: JsonObject[] = [];
    for (const each of Array.isArray(given) ? given : []) {
      if (!isJsonObject(each)) continue;
      const source = each.reference_url;
      attachments.push({
        ...picked(each, ofAttachments),
        ...(await this.#toContent(each.url, deployment)),
        ...(typeof source === 'string' && isOfWeb(source) && { reference_url: source }),
      });
    }
    return attachments;
  }

  /** An address that means the same to everybody, or the number of a file that is there; nothing for any other. */
  async #toContent(url: unknown, deployment: unknown): Promise<JsonObject> {
    if (typeof url !== 'string') return {};
    if (isOfWeb(url) || /^data:/i.test(url)) return { url };
    const place = url.startsWith(fileScheme) ? fromReference(url) : undefined;
    if (place === undefined) return {};
    if (place.bucket === publicBucket || place.bucket === sampleBucket) return { url };
    const file =
      place.bucket === this.#bucket && this.#mayShare(place.path, deployment) ? await this.#numberOf(place.path) : undefined;
    return file === undefined ? {} : { file };
  }

  #mayShare(path: string, deployment: unknown): boolean {
    if (this.#attached.has(path)) return true;
    return typeof deployment === 'string' && deployment !== '' && path.startsWith(`${appDataPath(deployment)}/`);
  }

  async #numberOf(path: string): Promise<number | undefined> {
    if (!this.#known.has(path)) {
      const etag = await this.#lookUp(path);
      this.#known.set(path, etag === undefined ? undefined : this.all.push({ path, etag }) - 1);
    }
    return this.#known.get(path);
  }
}

function isOfWeb(url: string): boolean {
  return /^https?:\/\//i.test(url);
}

function picked(from: JsonObject, forms: Forms): JsonObject {
  return Object.fromEntries(Object.entries(from).filter(([name, value]) => Object.hasOwn(forms, name) && forms[name]?.(value)));
}

/** Returns the descriptions of the files in a snapshot, in the order of their numbers. */
export function describeFiles({ turns, files }: ChatSnapshot): readonly JsonObject[] {
  const shown = turns.flatMap((turn) => {
    const { attachments } = turn.kind === 'question' ? turn : (turn.custom as JsonObject);
    const from = turn.kind === 'question' ? 'question' : 'reply';
    return (Array.isArray(attachments) ? (attachments as JsonObject[]) : []).map((each) => ({ ...each, from }) as JsonObject);
  });
  return files.map(({ path }, nth) => {
    const { title, from = 'question' } = shown.find(({ file }) => file === nth) ?? {};
    return { path, title: typeof title === 'string' && title !== '' ? title : path.slice(path.lastIndexOf('/') + 1), from };
  });
}
