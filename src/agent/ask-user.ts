import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { OfferedControl } from '#contract/chat/completed-control.ts';
import type { CompletedControl } from '#contract/chat/message.ts';
import type { ToolQuestion } from '#domain/tools/tool.ts';

const declineLabel = 'Decline';

/** What the user answers a tool's question with: one control to give what is asked, one to decline. */
export function toControls({ label, schema }: ToolQuestion): OfferedControl[] {
  return [{ label, schema }, { label: declineLabel }];
}

/** The user's answer, its value undefined if it was declined; undefined if the control is none of the question's. */
export function answerTo(
  { label }: ToolQuestion,
  completed: CompletedControl | undefined,
): { readonly value: JsonObject | undefined } | undefined {
  if (completed?.label === label) return { value: isJsonObject(completed.value) ? completed.value : {} };
  return completed?.label === declineLabel ? { value: undefined } : undefined;
}
