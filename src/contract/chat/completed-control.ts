import { isJsonObject } from '#base/json/json.ts';
import { ParleyError } from '../errors/errors.ts';
import { findSchemaError } from '../schemas/schema-error.ts';
import type { Message } from './message.ts';

/** A control that a reply recorded in its state under `parley_controls`. */
export interface OfferedControl {
  readonly label: string;
  /** JSON Schema of the value. */
  readonly schema?: object;
}

/**
 * Validates the control that the last message completes (docs/wire.md, Chat request). The last reply must have offered the
 * control, and its value must follow the schema. Does nothing if the last message completes no control. `recordedControls` is the list of
 * controls of that reply. If it is undefined, the state of the reply is used without a check of its authenticity. Throws
 * `control_not_offered`.
 */
export function checkCompletedControl(messages: readonly Message[], recordedControls?: readonly OfferedControl[]): void {
  const last = messages.at(-1);
  const completedControl = last?.role === 'user' ? last.custom_content?.completed_control : undefined;
  if (completedControl === undefined) return;
  const path = `messages[${messages.length - 1}].custom_content.completed_control`;
  const availableControls = recordedControls ?? findRecordedControls(messages);
  const control = availableControls?.find(({ label }) => label === completedControl.label);
  if (control === undefined) throw createNotOfferedError(`${path}.label`, 'is not the label of a control of the last reply');
  if (control.schema === undefined) return;
  const error = findSchemaError(completedControl.value ?? {}, control.schema);
  if (error !== undefined) throw createNotOfferedError(`${path}.value`, `does not follow the schema of the control: ${error}`);
}

/** Returns the controls that the last reply recorded, or undefined if it recorded none. */
function findRecordedControls(messages: readonly Message[]): readonly OfferedControl[] | undefined {
  const state = messages.findLast(({ role }) => role === 'assistant')?.custom_content?.state;
  return listControls(state?.parley_controls);
}

/** Returns the controls of the last reply as the client sent them back, or undefined if the client omitted them. */
export function listReturnedControls(messages: readonly Message[]): readonly OfferedControl[] | undefined {
  return listControls(messages.findLast(({ role }) => role === 'assistant')?.custom_content?.controls);
}

function listControls(controls: unknown): readonly OfferedControl[] | undefined {
  return Array.isArray(controls) ? controls.filter(isOfferedControl) : undefined;
}

function isOfferedControl(value: unknown): value is OfferedControl {
  return isJsonObject(value) && typeof value.label === 'string' && (value.schema === undefined || isJsonObject(value.schema));
}

function createNotOfferedError(param: string, claim: string): ParleyError {
  return new ParleyError('control_not_offered', `${param} ${claim}.`, { param });
}
