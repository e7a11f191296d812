import { type RecordedAnswer, toValues } from '../described-answers.ts';
import { Conformance } from './conformance.ts';
import { differences, ownShapes } from './differences.ts';
import { events } from './events.ts';
import { objects } from './objects.ts';

const surface = /^(?:\/openai)?\/v1\/(?<resource>responses|conversations)(?:\/(?<rest>.+))?$/;

/** Validates responses of the Responses surface and their parts against the Open Responses specification. */
export class Specification extends Conformance {
  constructor() {
    super({ ...objects, ...events, ...ownShapes }, differences);
  }

  findAnswerErrors({
    method,
    path,
    status,
    type,
    text,
    isComplete,
  }: Omit<RecordedAnswer, 'getOpenApiDocument'>): readonly string[] {
    const { resource, rest = '' } = surface.exec(path)?.groups ?? {};
    if (resource === undefined || text === '') return [];
    const isStream = type === 'text/event-stream';
    if (!isStream && !(isComplete && type.endsWith('json'))) return [];
    const typeName = isStream ? 'StreamingEvent' : status >= 400 ? 'ErrorAnswer' : getType(method, `${resource}/${rest}`);
    return typeName === undefined ? [] : toValues(type, text).flatMap((value) => this.findErrors(typeName, value));
  }
}

/** Returns the type of a JSON response, or undefined if the specification does not describe it. */
function getType(method: string, path: string): string | undefined {
  if (/^responses\/compact$/.test(path)) return 'CompactResource';
  if (/^responses\/input_tokens$/.test(path)) return undefined;
  if (/\/(input_)?items$/.test(path)) return 'ItemList';
  if (/^conversations\/[^/]+\/items\/[^/]+$/.test(path)) return method === 'GET' ? 'ItemField' : undefined;
  if (/^responses\/([^/]+(\/cancel)?)?$/.test(path)) return method === 'DELETE' ? undefined : 'ResponseResource';
  return undefined;
}
