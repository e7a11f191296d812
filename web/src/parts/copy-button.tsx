import { useEffect, useState } from 'react';
import { useStrings } from '../strings/strings.tsx';
import { IconButton } from './icon.tsx';

const visibleMs = 1600;

/** Copies a text to the clipboard and confirms it briefly. */
export function CopyButton({ text, label }: { readonly text: () => string; readonly label?: string }) {
  const strings = useStrings();
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setIsCopied(false), visibleMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (): void => {
    navigator.clipboard.writeText(text()).then(
      () => setIsCopied(true),
      () => undefined,
    );
  };
  const name = isCopied ? strings.copied : (label ?? strings.copy);
  return <IconButton icon={isCopied ? 'check' : 'copy'} label={name} onClick={copy} />;
}
