import type { AnswerState } from './background-answers.ts';
import { useBackgroundStrings } from './background-strings.ts';

/** How far an answer has come, in a word. */
export function StateMark({ status }: { readonly status: AnswerState }) {
  const { states } = useBackgroundStrings();
  return <span className={`state-mark ${status}`}>{states[status]}</span>;
}
