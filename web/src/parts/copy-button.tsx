import { useEffect, useState } from 'react';
import { useWords } from '../words/words.tsx';
import { Icon } from './icon.tsx';

const shownMs = 1600;

/** Puts a text on the clipboard, and says so for a moment. */
export function CopyButton({ text, label }: { readonly text: () => string; readonly label?: string }) {
  const words = useWords();
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setIsCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (): void => {
    navigator.clipboard.writeText(text()).then(
      () => setIsCopied(true),
      () => undefined,
    );
  };
  const name = isCopied ? words.copied : (label ?? words.copy);
  return (
    <button type="button" className="icon-button" aria-label={name} title={name} onClick={copy}>
      <Icon name={isCopied ? 'check' : 'copy'} />
    </button>
  );
}
