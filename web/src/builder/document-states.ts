import { isJsonObject, type JsonObject } from '#base/json.ts';
import { inPath, type Service } from '../service/service.ts';

/** How far the service is with reading a document. */
export interface DocumentState {
  readonly state: 'waiting' | 'indexing' | 'ready' | 'failed';
  /** Why it failed, or what of it could not be read; '' where all is well. */
  readonly reason: string;
  /** Passages that are found by what they mean. */
  readonly done: number;
  /** Undefined until it was read. */
  readonly total: number | undefined;
}

/** By reference. */
export type DocumentStates = ReadonlyMap<string, DocumentState>;

const states = new Set(['waiting', 'indexing', 'ready', 'failed']);

/** How far the documents of one's own application are. Throws ServiceFault. */
export async function readDocumentStates(service: Service, id: string, signal: AbortSignal): Promise<DocumentStates> {
  const answer = await service.json(`v1/deployments/${inPath(id)}/documents`, { signal });
  const items = isJsonObject(answer) && Array.isArray(answer.data) ? answer.data.filter(isJsonObject) : [];
  return new Map(items.flatMap((item) => toEntry(item)));
}

export function isUnderWay({ state }: DocumentState): boolean {
  return state === 'waiting' || state === 'indexing';
}

function toEntry({ reference, state, reason, passages }: JsonObject): [string, DocumentState][] {
  if (typeof reference !== 'string' || typeof state !== 'string' || !states.has(state)) return [];
  const { done, total } = isJsonObject(passages) ? passages : {};
  const read: DocumentState = {
    state: state as DocumentState['state'],
    reason: typeof reason === 'string' ? reason : '',
    done: typeof done === 'number' ? done : 0,
    total: typeof total === 'number' ? total : undefined,
  };
  return [[reference, read]];
}
