import type { Conversation, Question, Reply, Turn } from '../conversation/conversation.ts';

/** What a file had that conversations here have no place for. */
export interface Lost {
  /** Files and pictures. */
  files: number;
  /** Calls of tools, what they gave, and what a model thought. */
  steps: number;
}

/** A conversation as it was read. */
export interface Imported {
  readonly conversation: Conversation;
  readonly lost: Lost;
  /** The model that answered last, in the name the file has for it. */
  readonly model: string;
}

/** A message of another product; what is neither said nor answered has no `kind`. */
export interface Said {
  readonly id: string;
  /** The message before it; '' for the first. */
  readonly parent: string;
  readonly kind?: Turn['kind'];
  readonly text: string;
  readonly atMs: number | undefined;
  readonly model?: string;
}

export const mostTurns = 20_000;
const idForm = /^[A-Za-z0-9_-]{1,64}$/;

/** Whether the service takes it as an id. */
export function isId(id: unknown): id is string {
  return typeof id === 'string' && idForm.test(id);
}

/** The branch that leads to the message that was looked at last. */
export function shownTo(
  last: string,
  said: ReadonlyMap<string, Said>,
  turns: Imported['conversation']['turns'],
): Record<string, string> {
  const shown: Record<string, string> = {};
  const passed = new Set<string>();
  for (let at = last; said.has(at) && !passed.has(at); at = said.get(at)?.parent ?? '') {
    passed.add(at);
    const turn = turns[at];
    if (turn !== undefined) shown[turn.parent] = turn.id;
  }
  return shown;
}

/** A time of a file, which counts seconds. */
export function toMs(seconds: unknown): number | undefined {
  const isTime = typeof seconds === 'number' && seconds >= 0 && seconds < 8_640_000_000_000;
  return isTime ? Math.round(seconds * 1000) : undefined;
}

/** An id that the service takes: the one of the file, if that will do. */
export function toId(id: unknown): string {
  return isId(id) ? id : crypto.randomUUID();
}

/** Messages as turns: those in between left out, what one side says in a row as one, each later than what it follows. */
export function toTurns(said: ReadonlyMap<string, Said>, startMs: number): Record<string, Turn> {
  const before = new Map<string, string>();
  const turns: Record<string, Turn> = {};
  const ids = new Map<string, string>();
  const counts = new Map<string, number>();
  const parentOf = ({ parent }: Said): string => keptAt(parent, said, before);
  const kept = [...said.values()].filter(({ kind }) => kind !== undefined);
  for (const each of kept) counts.set(parentOf(each), (counts.get(parentOf(each)) ?? 0) + 1);
  for (const each of inOrder(kept, parentOf)) {
    const parent = ids.get(parentOf(each)) ?? '';
    const last = turns[parent];
    if (last !== undefined && last.kind === each.kind && counts.get(parentOf(each)) === 1) {
      turns[parent] = { ...last, text: [last.text, each.text].filter(Boolean).join('\n\n') };
      ids.set(each.id, parent);
      continue;
    }
    const id = toId(each.id);
    ids.set(each.id, id);
    turns[id] = toTurn(each, { id, parent, atMs: Math.max(each.atMs ?? startMs, (last?.atMs ?? 0) + 1) });
  }
  return turns;
}

function toTurn(said: Said, place: { id: string; parent: string; atMs: number }): Turn {
  const { text, model = '' } = said;
  if (said.kind === 'question') return { kind: 'question', ...place, text, attachments: [] } satisfies Question;
  return { kind: 'reply', ...place, state: 'done', deployment: model, text, custom: {}, stageTimes: {} } satisfies Reply;
}

/** The nearest message before that is kept; '' if there is none. Chains that lead back to themselves end. */
function keptAt(id: string, said: ReadonlyMap<string, Said>, known: Map<string, string>): string {
  const passed = new Set<string>();
  let at = id;
  for (;;) {
    const seen = known.get(at);
    const message = said.get(at);
    if (seen !== undefined || message === undefined || passed.has(at)) {
      at = seen ?? '';
      break;
    }
    if (message.kind !== undefined) break;
    passed.add(at);
    at = message.parent;
  }
  for (const each of passed) known.set(each, at);
  return at;
}

/** Parents before what follows them; those that follow nobody that leads to a first one are left out. */
function inOrder(all: readonly Said[], parentOf: (said: Said) => string): readonly Said[] {
  const following = Map.groupBy(all, parentOf);
  const ordered = [...(following.get('') ?? [])];
  for (let at = 0; at < ordered.length; at += 1) ordered.push(...(following.get(ordered[at]?.id ?? '') ?? []));
  return ordered;
}
