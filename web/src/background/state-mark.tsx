import type { AnswerState } from './background-answers.ts';
import { useBackgroundStrings } from './background-strings.ts';

/** The state of an answer as a word. */
export function StateMark({ status }: { readonly status: AnswerState }) {
  const { states } = useBackgroundStrings();
  return <span className={`state-mark ${status}`}>{states[status]}</span>;
}
