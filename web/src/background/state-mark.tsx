import type { AnswerState } from './background-answers.ts';
import { useBackgroundWords } from './background-words.ts';

/** How far an answer has come, in a word. */
export function StateMark({ status }: { readonly status: AnswerState }) {
  const { states } = useBackgroundWords();
  return <span className={`state-mark ${status}`}>{states[status]}</span>;
}
