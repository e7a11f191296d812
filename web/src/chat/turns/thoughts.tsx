import { useWords } from '../../words/words.tsx';

/** What a model thought before its answer, folded. */
export function Thoughts({ text }: { readonly text: string }) {
  const words = useWords();
  return (
    <details className="thoughts">
      <summary>{words.thoughts}</summary>
      <p className="soft" dir="auto">
        {text}
      </p>
    </details>
  );
}
