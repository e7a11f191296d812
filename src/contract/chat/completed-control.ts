import { isJsonObject } from '#base/json/json.ts';
import { ParleyError } from '../errors/errors.ts';
import { schemaFault } from '../schemas/schema-error.ts';
import type { Message } from './message.ts';

/** A control as the state of the reply that offered it recorded it, under `parley_controls`. */
export interface OfferedControl {
  readonly label: string;
  /** JSON Schema of the value. */
  readonly schema?: object;
}

/**
 * Checks that the control which the last message completes was offered by the last reply, and that its value follows the schema
 * (docs/wire.md, Chat request). Other last messages pass. `recorded` is what that reply offered; absent, its state tells, and whether the state
 * is one that the service issued is not looked at. Throws control_not_offered.
 */
export function checkCompletedControl(messages: readonly Message[], recorded?: readonly OfferedControl[]): void {
  const last = messages.at(-1);
  const completed = last?.role === 'user' ? last.custom_content?.completed_control : undefined;
  if (completed === undefined) return;
  const at = `messages[${messages.length - 1}].custom_content.completed_control`;
  const offered = recorded ?? offeredControls(messages);
  const control = offered?.find(({ label }) => label === completed.label);
  if (control === undefined) throw notOffered(`${at}.label`, 'is not the label of a control of the last reply');
  if (control.schema === undefined) return;
  const fault = schemaFault(completed.value ?? {}, control.schema);
  if (fault !== undefined) throw notOffered(`${at}.value`, `does not follow the schema of the control: ${fault}`);
}

/** What the last reply recorded; undefined if it recorded nothing. */
function offeredControls(messages: readonly Message[]): readonly OfferedControl[] | undefined {
  const state = messages.findLast(({ role }) => role === 'assistant')?.custom_content?.state;
  const recorded = state?.parley_controls;
  return Array.isArray(recorded) ? recorded.filter(isOfferedControl) : undefined;
}

/** The controls of the last reply as the caller sent them back; undefined if it left them out. */
export function controlsSentBack(messages: readonly Message[]): readonly OfferedControl[] | undefined {
  const controls: unknown = messages.findLast(({ role }) => role === 'assistant')?.custom_content?.controls;
  return Array.isArray(controls) ? controls.filter(isOfferedControl) : undefined;
}

function isOfferedControl(value: unknown): value is OfferedControl {
  return isJsonObject(value) && typeof value.label === 'string' && (value.schema === undefined || isJsonObject(value.schema));
}

function notOffered(param: string, claim: string): ParleyError {
  return new ParleyError('control_not_offered', `${param} ${claim}.`, { param });
}
